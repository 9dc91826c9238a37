"""The values of a grouped expression over the rows of persons, each with the condition that a row has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.query.refusals import name_of, unsupported
from anondb.query.relations import bare
from anondb.release.objects import RECORDS
from anondb.session.counts import CONDITIONS, branches

if TYPE_CHECKING:
    from anondb.session.rows_of_persons import Counts


VALUE = "value of an item"
"""The name of a function of an item and of the number of a list of values (``Counts.group``); no text parses as it."""


@dataclass(frozen=True)
class Key:
    """What a column of persons is.

    Attributes:
        what: ``id``, ``item``, ``attribute``, ``condition``, ``flag`` (a number, 0 or 1), ``number``, or ``part``: the
            column that divides the files.
        kind: the SQL type of its values.
        attribute: the name of an attribute.
        open: whether values may be missing in a list of them: suppressed items, or the numbers of items with these.
    """

    what: str
    kind: str
    attribute: str = ""
    open: bool = False


@dataclass(frozen=True)
class Domain:
    """The values of a grouped expression.

    Attributes:
        key: the expression.
        kind: the SQL type of the values.
        values: the values with their conditions; None if the release lists the values of the column.
        of_items: whether the values are items.
        open: whether values may be missing (``Key.open``).
    """

    key: exp.Expr
    kind: str
    values: list[tuple[Any, exp.Expr]] | None
    of_items: bool = False
    open: bool = False


def domain(key: exp.Expr, base: exp.Select, counts: Counts) -> Domain:
    """The values of a grouped expression.

    Raises:
        InputError: ``unsupported_query``: they cannot be listed.
    """
    made = _domain(key, base, counts)
    if made.kind in ("UBIGINT", "HUGEINT", "UHUGEINT"):
        raise unsupported(f"GROUP BY a number of the type {made.kind}", "Cast it to BIGINT or VARCHAR.")
    return made


def _domain(key: exp.Expr, base: exp.Select, counts: Counts) -> Domain:
    if isinstance(key, exp.Case | exp.If):
        return _of_case(key)
    if isinstance(key, exp.Anonymous) and key.name == VALUE:
        return _of_table(key, counts)
    known = counts.kind(base, key) if isinstance(key, exp.Column) else None
    if known is not None and known.what == "id":
        raise unsupported("GROUP BY the id column around a count", "Ids cannot be listed from a release.")
    if known is not None and known.what in ("item", "attribute", "number"):
        return Domain(key, known.kind, None, known.what == "item", known.open)
    if known is not None and known.what == "part":
        return Domain(key, known.kind, counts.parts(key))
    if isinstance(key, CONDITIONS) or (known is not None and known.what == "condition"):
        true, false = (exp.Is(this=exp.paren(key), expression=truth()) for truth in (exp.true, exp.false))
        unknown = exp.and_(exp.Not(this=exp.paren(true)), exp.Not(this=exp.paren(false)))
        return Domain(key, "BOOLEAN", [(True, true), (False, false), (None, unknown)])
    if known is not None and known.what == "flag":
        return Domain(key, known.kind, [(n, equal_to(key, n, known.kind)) for n in (1, 0)])
    if isinstance(key, exp.GroupingSets | exp.Rollup | exp.Cube | exp.Tuple):
        raise unsupported(f"GROUP BY {key.key.upper()}", "Ask for each of the groupings by itself.")
    columns = set(key.find_all(exp.Column))
    if len(columns) == 1 and not key.find(exp.Query, exp.AggFunc, exp.Window):
        (column,) = columns
        known = counts.kind(base, column)
        if known is not None and known.what in ("attribute", "item", "part"):
            if known.what == "item" and counts.suppressed:
                raise unsupported(f"GROUP BY an expression of items that may be suppressed ({name_of(key)})")
            return _of_listed(key, column, known, base, counts)
    _check_rows(base, counts)
    if isinstance(key, exp.Column):
        raise unsupported(f"GROUP BY the column {key.name!r}")
    raise unsupported(
        f"GROUP BY an expression ({name_of(key)})", "Name the groups: CASE WHEN v < 10 THEN 'small' ELSE 'large' END."
    )


def _check_rows(base: exp.Select, counts: Counts) -> None:
    """Raise the error of FROM and WHERE, if they are the reason why a column is not known."""
    asked = base.copy()
    asked.set("expressions", [exp.Count(this=exp.Star(), big_int=True)])
    counts.answer(asked)


def one_listed(domains: Sequence[Domain], base: exp.Select, counts: Counts) -> list[Domain]:
    """The domains with the values of attributes, so that the release lists at most one column, or two of items."""
    listed = [d for d in domains if d.values is None]
    attributes = {id(d): key for d in listed if (key := counts.kind(base, d.key)) is not None and key.attribute}
    kept = next((d for d in listed if id(d) not in attributes), listed[-1] if listed else None)
    return [
        _of_listed(d.key, d.key, attributes[id(d)], base, counts) if d is not kept and id(d) in attributes else d
        for d in domains
    ]


def _of_listed(key: exp.Expr, column: exp.Expr, of: Key, base: exp.Select, counts: Counts) -> Domain:
    """The values of an expression of items or of one relational attribute, from the values that the release lists."""
    groups, types = listed_values(key, column, of, base, counts)
    values = [(value, among(column, members, of.kind)) for value, members in groups.items()]
    kinds = types - {'"NULL"'}
    return Domain(key, kinds.pop() if len(kinds) == 1 else "VARCHAR", list(values))


def listed_values(
    key: exp.Expr, column: exp.Expr, of: Key, base: exp.Select, counts: Counts
) -> tuple[dict[Any, list[Any]], set[str]]:
    """The values of an expression of a column, each with the values of the column, as the release lists these; the types.

    Raises:
        InputError: ``unsupported_query``.
    """
    listing, listed_column = base.copy(), column.copy()
    if of.what == "part":
        return _grouped(key, of, [value for value, _ in counts.parts(column)], counts)
    if of.attribute:  # from their table alone: joins and conditions make the counts, which are not used here, costly
        listing, listed_column = exp.select().from_(RECORDS), exp.column(exp.to_identifier(of.attribute, quoted=True))
    listing.set("expressions", [listed_column, exp.Count(this=exp.Star(), big_int=True)])
    listing.set("group", exp.Group(expressions=[listed_column.copy()]))
    return _grouped(key, of, [row[0] for row in counts.answer(listing)], counts)


def _grouped(key: exp.Expr, of: Key, listed: Sequence[Any], counts: Counts) -> tuple[dict[Any, list[Any]], set[str]]:
    """The values of an expression of a column with these values."""
    rows = exp.Values(
        expressions=[exp.Tuple(expressions=[exp.convert(n), _literal(v, of.kind)]) for n, v in enumerate(listed)],
        alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier(c) for c in ("n", "value")]),
    )

    def of_listed(part: exp.Expr) -> exp.Expr:
        return exp.column("value", "listed") if isinstance(part, exp.Column) else part

    if not listed:
        return {}, set()
    value = key.copy().transform(of_listed)
    typed = exp.select(exp.column("n", "listed"), value, exp.Anonymous(this="typeof", expressions=[value.copy()]))
    groups: dict[Any, list[Any]] = {}
    types = set()
    for n, of_row, type_name in counts.rows(typed.from_(rows)):
        if str(type_name).endswith(("]", ")")) and not str(type_name).startswith("DECIMAL"):
            raise unsupported("GROUP BY a list or another nested value")
        groups.setdefault(of_row, []).append(listed[n])
        types.add(str(type_name))
    return groups, types


def among(column: exp.Expr, members: Sequence[Any], kind: str) -> exp.Expr:
    """The condition that a column has one of some values."""
    conditions = [equal_to(column, None, kind)] if None in members else []
    if listed := [_literal(member, kind) for member in members if member is not None]:
        conditions.append(exp.In(this=column.copy(), expressions=listed))
    return exp.or_(*conditions)


def equal_to(key: exp.Expr, value: Any, kind: str) -> exp.Expr:
    """The condition that an expression has a value of a type."""
    if value is None:
        return exp.Is(this=key.copy(), expression=exp.null())
    return exp.EQ(this=key.copy(), expression=_literal(value, kind))


def _literal(value: Any, kind: str) -> exp.Expr:
    """A value as a literal of a type."""
    if value is None:
        return exp.cast(exp.null(), kind)
    if kind in ("DATE", "TIMESTAMP"):
        return exp.cast(exp.Literal.string(str(value)), kind)
    if isinstance(value, str):
        return exp.Literal.string(value)
    return exp.Literal.number(format(Decimal(repr(value)), "f"))


def _of_table(key: exp.Anonymous, counts: Counts) -> Domain:
    """The values of an expression of a joined table, each with the condition on its items."""
    listed = counts.grouped(int(key.expressions[1].name))
    return Domain(key, listed[0][2] if listed else "VARCHAR", [(value, condition) for value, condition, _ in listed])


def _of_case(key: exp.Expr) -> Domain:
    """The literals that CASE results in, each with the branches of this result."""
    conditions: dict[exp.Expr, list[exp.Expr]] = {}
    for condition, value in branches(key):
        literal = bare(value)
        if not isinstance(literal, exp.Literal | exp.Null | exp.Boolean):
            raise unsupported("GROUP BY CASE with other results than literals")
        same = (
            c
            for c in conditions
            if type(python_value(c)) is type(python_value(literal)) and python_value(c) == python_value(literal)
        )
        conditions.setdefault(next(same, literal), []).append(condition)
    kinds = {
        "VARCHAR" if v.is_string else "BIGINT" if v.name.isdigit() else "DOUBLE"
        for v in conditions
        if isinstance(v, exp.Literal)
    }
    if any(isinstance(v, exp.Boolean) for v in conditions):
        kinds.add("BOOLEAN")
    if len(kinds) > 1:
        raise unsupported("GROUP BY CASE with results of several types")
    values: list[tuple[Any, exp.Expr]] = [(python_value(value), exp.or_(*cases)) for value, cases in conditions.items()]
    return Domain(key, kinds.pop() if kinds else "VARCHAR", values)


def python_value(value: exp.Expr) -> Any:
    """The value of a literal."""
    if isinstance(value, exp.Null):
        return None
    if isinstance(value, exp.Boolean):
        return bool(value.this)
    if value.is_string:
        return value.name
    return int(value.name) if value.name.isdigit() else float(value.name)
