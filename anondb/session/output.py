"""What the analyst sees of an answer: the columns of a result, the groups of one count, and calls of ``count_bounds``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from sqlglot import exp

from anondb.answers.ranged.relation import IN_WORLDS, INTEGERS, Column, Ranged, failed
from anondb.answers.spread import HIGH, LOW
from anondb.engine import DuckDBEngine
from anondb.engine.untrusted import materialized
from anondb.query.parsing import SELECT, lowered, parse_script
from anondb.query.refusals import unsupported
from anondb.session.result import Result, fetched, json_rows

CERTAIN = "certain"
MAYBE_NOTE = "A number may be NULL, since the file does not show that anybody is counted; its bounds hold where it is not."
WITH_BOUNDS = (
    *("TINY", "SMALL", "INT", "BIGINT", "HUGEINT", "UTINY", "USMALL", "UINT", "UBIG", "UHUGE"),
    *("FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIMESTAMP"),
)
"""Types of computed columns that have bounds, beside BOOLEAN."""
ENDS = ("_lower", "_upper")
SPREAD = "spread"
CHOICES = ("columns", "none", SPREAD)
"""What the option ``bounds`` may be."""
BOUNDS_HINT = "bounds is 'columns', 'none' or 'spread'."
BOUNDS = ("lower_bound", "estimate", "upper_bound")
_CHOOSES_ROWS = ("having", "qualify", "distinct", "limit", "offset")


def unique(names: Sequence[str]) -> list[str]:
    """The names of columns as DuckDB makes them unique: ``n``, ``n_1``, ``n_2``."""
    unique: list[str] = []
    for name in names:
        number, candidate = 0, name
        while lowered(candidate) in map(lowered, unique):
            number += 1
            candidate = f"{name}_{number}"
        unique.append(candidate)
    return unique


def output(
    relation: Ranged, bound: Sequence[tuple[str, str]], bounds: bool, called: str = ""
) -> tuple[list[exp.Expr], list[str], list[str]]:
    """The columns that the analyst sees, as expressions with names that differ; their names, which may repeat as in DuckDB;
    and notes on them.

    Args:
        relation: the rows.
        bound: the names and types of the query's columns; empty if DuckDB could not describe them.
        bounds: whether bounds are shown.
        called: a note on the ends of a spread (``estimates.Estimated``).
    """
    given = [name for name, _ in bound] or [column.name for column in relation.columns]
    names = unique(given)
    types = [kind for _, kind in bound] or [""] * len(names)
    if len(names) != len(relation.columns):
        raise unsupported("an expression that gives several columns, such as unnest of a struct", "Name the fields.")
    described = list(zip(names, types, relation.columns, strict=True))
    cells = [list(_cells(n, kind, column, bounds)) for n, (_, kind, column) in enumerate(described)]
    ends = [place - 1 for place, column in zip(accumulate(map(len, cells)), relation.columns, strict=True) if column.spread]
    values = [value for of_column in cells for value, _ in of_column]
    parts = [(n, word) for n, of_column in enumerate(cells) for _, word in of_column]
    marks: list[str] = []
    labelled = any(_labels_by_estimates(kind, column) for _, kind, column in described)
    if bounds and (relation.asked or relation.unsure or labelled):
        marks = [CERTAIN, *[IN_WORLDS] * any(column.spread for column in relation.columns)]
        values += [exp.false() if labelled else exp.column("sure", "result"), exp.column(IN_WORLDS, "result")][: len(marks)]
    apart = unique([*(f"{names[n]}{word}" for n, word in parts), *marks])
    columns = list(apart)
    for at, (n, word) in enumerate(parts):
        if names[n] != given[n]:
            columns[at] = f"{given[n]}{word}"
    notes = _notes(described, bounds)
    if called and ends:
        low, high = (", ".join(columns[n - before] for n in ends) for before in (1, 0))
        notes.append(called.format(low=low, high=high))
    return [value.as_(name, quoted=True) for value, name in zip(values, apart, strict=True)], columns, notes


def _is_number(kind: str) -> bool:
    """Whether a column of a type, or of none that is known, may have bounds."""
    return not kind or kind.startswith(WITH_BOUNDS)


def _cells(n: int, kind: str, column: Column, bounds: bool) -> Iterator[tuple[exp.Expr, str]]:
    """The columns that show the column ``n`` of the query: its value, bounds and spread, with how their names end."""
    value, lower, upper, low, high = (exp.column(f"c{n}{end}", "result") for end in ("", "_l", "_u", LOW, HIGH))
    if column.bounded and kind == "BOOLEAN":
        decided = [exp.If(this=lower, true=exp.true()), exp.If(this=exp.Not(this=upper), true=exp.false())]
        yield exp.Case(ifs=decided), ""
        return
    yield (_number if column.bounded else _whole)(value, kind), ""
    if column.bounded and bounds and _is_number(kind):
        yield from ((_finite(end, kind), word) for end, word in zip((lower, upper), ENDS, strict=True))
    if column.spread:
        yield from ((_finite(end, "DOUBLE"), word) for end, word in ((low, LOW), (high, HIGH)))


def _labels_by_estimates(kind: str, column: Column) -> bool:
    """Whether estimates choose the labels of a column, so that other originals have other rows."""
    if column.bounded and kind == "BOOLEAN":
        return False
    dated = column.unknown and kind.startswith(("DATE", "TIMESTAMP"))
    return dated or ((column.bounded or column.unknown) and not _is_number(kind))


def _notes(described: Iterable[tuple[str, str, Column]], bounds: bool) -> list[str]:
    """The notes on columns, each once."""
    notes: list[str] = []
    for name, kind, column in described:
        if column.bounded and kind == "BOOLEAN":
            continue
        if column.unknown or (column.bounded and not _is_number(kind)):
            reason = f", since no rule reads this: {column.why}" if column.why else ""
            notes.append(f"The column {name!r} is computed from estimates, and has no bounds{reason}.")
        if column.bounded and column.maybe and bounds and _is_number(kind):
            notes.append(MAYBE_NOTE)
    return list(dict.fromkeys(notes))


def _number(estimate: exp.Expr, kind: str) -> exp.Expr:
    """An estimate, in the precision of its bounds; NULL for NaN, such as the difference of infinite numbers."""
    if kind not in ("FLOAT", "DOUBLE"):
        return estimate
    number = exp.Not(this=exp.Anonymous(this="isnan", expressions=[exp.cast(estimate.copy(), "DOUBLE")]))
    return exp.Case(ifs=[exp.If(this=number, true=exp.cast(estimate, kind))])


def _whole(value: exp.Expr, kind: str) -> exp.Expr:
    """A known value; a whole number in the type that it has in the original."""
    return exp.cast(value, kind, dialect="duckdb") if kind in INTEGERS else value


def _finite(end: exp.Expr, kind: str) -> exp.Expr:
    """A bound; none if it is infinite, such as the logarithm of 0."""
    if kind not in ("FLOAT", "DOUBLE"):
        return end
    finite = exp.Anonymous(this="isfinite", expressions=[exp.cast(end.copy(), "DOUBLE")])
    return exp.Case(ifs=[exp.If(this=finite, true=end)])


def selected_from(relation: Ranged, listed: Sequence[exp.Expr]) -> exp.Query:
    """The SELECT of these expressions."""
    return exp.select(*listed).from_(relation.tree.subquery("result", copy=False))


@dataclass(frozen=True)
class Count:
    """All groups of one count.

    Attributes:
        name: the alias of the count in the query, ``count`` without an alias.
        columns: the names of the columns of the groups; empty without groups.
        rows: the groups, each with its values, then lower bound, estimate and upper bound.
        notes: remarks on the interpretation of the query.
    """

    name: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """The count as JSON values."""
        return {
            "count": self.name,
            "columns": [*self.columns, *BOUNDS],
            "rows": json_rows(self.rows),
            "notes": self.notes,
        }


def one_count(sql: str, result: Result) -> Count | None:
    """The result of a query as the groups of its only count; None if it asks for more than one.

    A condition on the count, LIMIT and DISTINCT choose from the groups, so they ask for more. Without them, the
    column ``certain`` says of a group no more than its lower bound does.
    """
    statements = parse_script(sql)
    tree = statements[0].tree
    if len(statements) > 1 or statements[0].word != SELECT:
        return None
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    if not isinstance(tree, exp.Select) or any(tree.args.get(clause) for clause in _CHOOSES_ROWS):
        return None
    computed = [n for n, selected in enumerate(tree.expressions) if selected.find(exp.AggFunc, exp.Window)]
    if len(computed) != 1 or not _is_count(tree.expressions[computed[0]].unalias()):
        return None
    (at,), (*names,) = computed, result.columns
    marked = names[len(tree.expressions) + 2 :] == [CERTAIN]
    if marked:
        names.pop()
    if len(names) != len(tree.expressions) + 2 or names[at + 1 : at + 3] != [f"{names[at]}{end}" for end in ENDS]:
        return None
    groups = [n for n in range(len(names)) if not at <= n < at + 3]
    rows = result.fetchall()
    if marked and any(row[-1] != ((row[at + 1] or 0) >= 1) for row in rows):  # a group without a counted row
        return None
    bounds = [(*(row[n] for n in groups), row[at + 1], row[at], row[at + 2]) for row in rows]
    return Count(tree.expressions[at].alias or "count", [names[n] for n in groups], bounds, result.notes)


def _is_count(selected: exp.Expr) -> bool:
    counter = selected.this if isinstance(selected, exp.Filter) else selected
    return isinstance(counter, exp.Count | exp.CountIf)


_CONSTANTS = (
    *(exp.Array, exp.Boolean, exp.Identifier, exp.Literal, exp.Neg),
    *(exp.Null, exp.PropertyEQ, exp.Cast, exp.DataType),
)


def with_bounds(tree: exp.Expr, engines: Sequence[DuckDBEngine]) -> exp.Expr:
    """A query with the row of each call of ``count_bounds`` in its place.

    Args:
        tree: the query, which is changed.
        engines: read the files.

    Raises:
        InputError: ``unsupported_query``: there are several files, or it has other operands than constants.
    """
    for table in list(tree.find_all(exp.Table)):
        call = table.this
        if not isinstance(call, exp.Anonymous) or lowered(call.name) != "count_bounds":
            continue
        if len(engines) > 1:
            raise unsupported("count_bounds of several files", "Count the ids: count(DISTINCT ...), with conditions.")
        if not all(isinstance(part, _CONSTANTS) for part in call.walk() if part is not call):
            raise unsupported("count_bounds with arguments that are not constants", "Write count_bounds(['a', 'b']).")
        asked = exp.select(*BOUNDS).from_(exp.Table(this=call.copy()))
        (row,) = fetched(materialized(engines[0], asked, failed))
        kinds = ("BIGINT", "DOUBLE", "BIGINT")
        cells = [exp.cast(exp.convert(v), k).as_(n) for v, k, n in zip(row, kinds, BOUNDS, strict=True)]
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier("count_bounds"))
        table.replace(exp.Subquery(this=exp.select(*cells), alias=alias.copy()))
    return tree
