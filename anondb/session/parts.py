"""Conditions on the column that divides a release into files: they choose files, whose counts add up as they are.

All rows of a file have the value that its manifest states under ``partition``. So a condition on this column is true for all
rows of a file or for none, and WHERE without it, on the files where it is true, has the same rows. The manifest states the
value as a text, whatever the type of the column: a condition is evaluated for each type that the values may have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.engine import DuckDBEngine, Shape
from anondb.errors import EngineError, InputError
from anondb.query.parsing import lowered
from anondb.query.refusals import unsupported
from anondb.release.objects import partition_of

TYPES = (
    "HUGEINT",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "BOOLEAN",
    "UUID",
)  # that a column may have whose values are known as texts
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is)
_JOINED = (exp.And, exp.Or, exp.Not, exp.Paren)
_GIVEN = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Neg,
    exp.Cast,
    exp.DataType,
    exp.DataTypeParam,
    exp.Null,
    exp.Boolean,
)
_HINT = "Use it in a condition of WHERE that names no other column, or open the files of the values that you want."


def divided(manifests: Sequence[Mapping[str, str]]) -> tuple[str, list[str]] | None:
    """The column by which files are divided, and the value of each file; None if the manifests do not say so."""
    parts = [part for part in map(partition_of, manifests) if part is not None]
    if len(parts) < len(manifests) or len({lowered(column) for column, _ in parts}) > 1:
        return None
    return parts[0][0], [value for _, value in parts]


def chosen(
    tree: exp.Expr, column: str, values: Sequence[str], persons: Shape, own: Shape, desk: DuckDBEngine
) -> tuple[exp.Expr, list[int]] | None:
    """A query without its conditions on the column that divides the files, and the places of the files for which they hold.

    Args:
        tree: the query.
        column, values: the column, and its value in each file.
        persons: the tables of persons.
        own: the analyst's tables.
        desk: the database that evaluates the conditions.

    Returns:
        None if the query does not name the column.

    Raises:
        InputError: ``unsupported_query``: the column is used in another way; ``ambiguous_item``: the condition depends on
            the type of the column; ``bad_sql``; ``no_such_file``: it holds for none of the files.
    """
    used = [node for node in tree.find_all(exp.Column) if lowered(node.name) == lowered(column)]
    names = {lowered(name) for name, _ in persons}
    others = {lowered(name) for name, columns in (*persons, *own) if lowered(column) in map(lowered, columns)}
    tables = [table for table in tree.find_all(exp.Table) if lowered(table.name) in names]
    aliases = {lowered(alias.alias) for alias in tree.find_all(exp.Alias)}
    if not used or lowered(column) in aliases or any(lowered(t.name) in others for t in tree.find_all(exp.Table)):
        return None
    select = tables[0].find_ancestor(exp.Select) if len(tables) == 1 else None
    where = None if select is None else select.args.get("where")
    plain = select is not None and not any(join.side for join in select.args.get("joins") or ())
    conjuncts = (
        list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this]) if where and plain else []
    )
    conditions = [one for one in conjuncts if any(node in used for node in one.find_all(exp.Column))]
    inside = [node for one in conditions for node in one.find_all(exp.Column)]
    known = all(isinstance(node, (*_COMPARED, *_JOINED, *_GIVEN)) for one in conditions for node in one.walk())
    if not known or sorted(map(id, inside)) != sorted(map(id, used)):
        raise unsupported(f"the column {column!r}, which divides the files, in this place", _HINT)
    places = _where_true(exp.and_(*conditions), used, column, values, desk)
    assert where is not None
    rest = [one for one in conjuncts if one not in conditions]
    where.parent.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    if not places:
        raise InputError(
            f"No file has rows with this condition on {column!r}.",
            code="no_such_file",
            hint="Ask for values of the files, or open others.",
        )
    return tree, places


def _where_true(
    condition: exp.Expr, used: Sequence[exp.Column], column: str, values: Sequence[str], desk: DuckDBEngine
) -> list[int]:
    """The places of the values for which a condition is true, whatever the type of the column."""
    for node in condition.find_all(exp.Column):
        node.replace(exp.column("value", "part"))
    rows = [exp.Tuple(expressions=[exp.convert(n), exp.convert(value)]) for n, value in enumerate(values)]
    texts = exp.Values(
        expressions=rows, alias=exp.TableAlias(this="given", columns=[exp.to_identifier(c) for c in "nv"])
    )
    answers: list[list[int]] = []
    decimals = {len(fraction) for _, _, fraction in (value.partition(".") for value in values)}
    for kind in ("VARCHAR", *TYPES, *(f"DECIMAL(38, {places})" for places in decimals if 0 < places < 38)):
        read = exp.TryCast(this=exp.column("v"), to=exp.DataType.build(kind, dialect="duckdb"))
        same = exp.Coalesce(this=exp.cast(read.copy(), "VARCHAR").eq(exp.column("v")), expressions=[exp.false()])
        typed = exp.select("n", read.as_("value"), same.as_("same")).from_(texts.copy()).subquery("part")
        if not all(desk.select(exp.select("same").from_(typed.copy()), "a condition")["same"].tolist()):
            continue
        holds = exp.select("n").from_(typed).where(condition.copy()).order_by("n")
        try:
            answers.append([int(n) for n in desk.select(holds, "a condition")["n"].tolist()])
        except EngineError as error:
            if error.code != "refused":
                raise
    if not answers:
        raise InputError(f"DuckDB does not accept the condition on {column!r}.", code="bad_sql")
    if any(answer != answers[0] for answer in answers):
        raise InputError(
            f"The column {column!r} may be of several types, and the condition holds for other values of each.",
            code="ambiguous_item",
            hint="Compare by = and IN, or with numbers instead of texts.",
        )
    return answers[0]
