"""Answer a COUNT query from a release: the order of the steps, and the ``Answer``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from html import escape
from typing import Any, TypeVar

from sqlglot import exp

from anondb.engine import DuckDBEngine
from anondb.query.anatomy import BucketAnswers
from anondb.query.by_item import item_rows
from anondb.query.cached_release import Known, Opened
from anondb.query.evaluate import Question
from anondb.query.histogram import histogram
from anondb.query.measures import counted, has_sums, measured
from anondb.query.pairs import SIGNS, pairs
from anondb.query.parsing import lowered, parse
from anondb.query.plan import IDS, ITEMS, MEASURE, PAIRS, ROWS, Plan
from anondb.query.predicates import Weights, both, negate
from anondb.query.refusals import unsupported
from anondb.query.relational import group_values
from anondb.query.relations import counts_each_row
from anondb.query.rewriter import rewrite
from anondb.query.scalars import Ends, answered, on_records
from anondb.query.totals import Bounds, clip, patterns_of, total
from anondb.query.values import DAY, Attribute, OnValue, Value
from anondb.release.objects import SchemaName

MORE_NOTE = (
    "Items were suppressed, so somebody may have any number more: greater numbers than the listed ones are possible."
)
BOUNDS = ("lower_bound", "estimate", "upper_bound")
Row = tuple[Any, ...]
_T = TypeVar("_T")


@dataclass(frozen=True, repr=False)
class Answer:
    """The answer to a COUNT query.

    Attributes:
        columns: names of the group columns, empty without GROUP BY.
        rows: the groups, each with its values, then lower bound, estimate and upper bound of the count.
        notes: remarks for the analyst on the interpretation of the query.
        predicate: the counted condition in words close to SQL, with the analyst's literals.
        name: the alias of the count in the query, ``count`` without an alias.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...]
    predicate: str
    name: str = "count"

    @property
    def bounds(self) -> Bounds:
        """Lower bound, estimate and upper bound of a query without GROUP BY."""
        ((lower, estimate, upper),) = self.rows
        return lower, estimate, upper

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells)
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """The answer as a table, for notebooks."""
        head, *rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self._cells())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f"<p>note: {escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head.replace('td>', 'th>')}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def _cells(self) -> list[tuple[str, ...]]:
        """The names of the columns, and the rows, as texts."""
        head = tuple(name.replace("_", " ") for name in BOUNDS)
        rows = [
            (*("NULL" if g is None else str(g) for g in groups), f"{lower:,}", f"{estimate:,.1f}", f"{upper:,}")
            for *groups, lower, estimate, upper in self.rows
        ]
        return [(*self.columns, *head), *rows]

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return {
            "count": self.name,
            "columns": [*self.columns, *BOUNDS],
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
            "predicate": self.predicate,
        }


def _by_value(release: Opened, plan: Plan) -> dict[Value | None, Bounds]:
    """GROUP BY a relational attribute: the count for each possible value, in order."""
    assert plan.grouped is not None
    condition = both(plan.condition, OnValue(plan.grouped.name, None))
    question = Question.of(condition, plan.test if plan.counts == ROWS else None)
    if not question.tests:  # no person meets the condition
        return {}
    answers, shown = on_records(release, plan, question)
    return {value: total(answers.outcomes(value)) for value in group_values(plan.grouped, shown[plan.grouped.name])}


def _value_rows(release: Opened, plan: Plan) -> list[Row]:
    """The rows of a query grouped by a relational attribute, without impossible values."""
    assert plan.grouped is not None
    counts = _by_value(release, plan)
    for reading in plan.others():
        by_value = _by_value(release, reading)
        for value in counts.keys() | by_value.keys():
            bounds, other = counts.get(value, (0, 0.0, 0)), by_value.get(value, (0, 0.0, 0))
            counts[value] = clip(min(bounds[0], other[0]), bounds[1], max(bounds[2], other[2]))
    order = [value for value in counts if value is not None]
    if plan.descending:
        order.reverse()
    listed = [*order, *([None] if None in counts else [])]
    return [(_shown(plan.grouped, value), *counts[value]) for value in listed if counts[value][2]]


def _shown(attribute: Attribute, value: Value | None) -> str | int | float | None:
    """A value in the form of the original; dates and timestamps as ISO texts."""
    if not isinstance(value, Fraction):
        return value
    if attribute.dated:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value * DAY))
        return moment.date().isoformat() if attribute.whole else moment.replace(tzinfo=None).isoformat(" ")
    return int(value) if attribute.whole else float(value)


class OpenRelease:
    """A release that answers queries, one after the other.

    It reads the manifest and the members of released items once. Each answer ends with a check of the release id, and is
    recomputed if the release has changed.

    Args:
        engine: an engine on the sealed file or on the owner's database.
        schema: the schema of the release: ``main`` of a sealed file, or ``release_<name>``.
        known: its kind and its manifest, if they are known.

    Attributes:
        opened: what was read of the release.

    Raises:
        InputError: ``not_a_release``, or ``unsupported_query`` for an unsupported kind of release.
    """

    def __init__(self, engine: DuckDBEngine, schema: SchemaName, known: Known | None = None) -> None:
        with engine.names.steady():
            self.opened = Opened(engine, schema, known)

    @property
    def manifest(self) -> Mapping[str, str]:
        """The manifest of the release."""
        return self.opened.manifest

    def answer(self, sql: str) -> Answer:
        """Answer a COUNT query, written for the original table.

        Args:
            sql: the analyst's query; ``rewriter.rewrite`` describes the supported shapes.

        Returns:
            The answer; its bounds hold for every original that the release may come from.

        Raises:
            InputError: ``unsupported_query``, ``bad_sql``, ``query_too_complex``, ``ambiguous_item``, or
                ``not_a_release`` if it no longer exists.
            EngineError: the database failed.
        """
        return self.current(lambda opened: _answer(opened, sql))

    def current(self, work: Callable[[Opened], _T]) -> _T:
        """The result of work on the release; it is done again if the release changed meanwhile."""
        with self.opened.engine.names.steady():
            while True:
                opened = self.opened
                try:
                    result = work(opened)
                except Exception:  # a release that changed meanwhile can cause any error
                    if opened.is_current():
                        raise
                else:
                    if opened.is_current():
                        return result
                self.opened = Opened(opened.engine, opened.schema)


def run(engine: DuckDBEngine, schema: SchemaName, sql: str) -> Answer:
    """Answer one query from a release (see ``OpenRelease``)."""
    return OpenRelease(engine, schema).answer(sql)


def _check_groups(tree: exp.Expr, manifest: Mapping[str, str]) -> None:
    """Refuse a count that may be 0 for a group of rows, which would not be listed.

    Raises:
        InputError: ``unsupported_query``.
    """
    names = {lowered(manifest[key]) for key in ("id_column", "item_column")} | {"transaction_id", "items"}
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        return
    for count in (count for e in tree.expressions for count in e.find_all(exp.Count)):
        if not counts_each_row(count, tree, lambda column: lowered(column.name) in names):
            raise unsupported(
                "groups by a count of values that may be NULL", "Ask in a session: anondb.open(FILE).sql(...)."
            )


def _answer(release: Opened, sql: str) -> Answer:
    tree = parse(sql)
    _check_groups(tree, release.manifest)
    plan = rewrite(tree, release.manifest, release.attributes)
    forms = release.original.accepted(sql)
    if len(forms) < 2:
        plan = rewrite(tree, release.manifest, release.attributes, forms)
    if plan.counts == MEASURE:
        listed = plan.aggregate == "histogram"
        what = "GROUP BY a number of items" if listed else f"the function {plan.aggregate.upper()}"
        raise unsupported(f"{what} in a query for a count", "Ask in a session: anondb.open(FILE).sql(...).")
    answer = answer_plan(release, plan)
    return replace(answer, rows=tuple(answer.rows))


def _aggregate(release: Opened, plan: Plan) -> Answer:
    """An aggregate of numbers over persons."""
    if release.anatomy:
        raise unsupported("an aggregate of numbers, from a release in buckets")
    readings = [measured(release, reading) for reading in (plan, *plan.others())]
    ends = [[bounds[place] for bounds in readings] for place in (0, 2)]
    lower = None if None in ends[0] else min(end for end in ends[0] if end is not None)
    upper = None if None in ends[1] else max(end for end in ends[1] if end is not None)
    people = [
        replace(reading, counts=IDS, measure=None, aggregate="", other=None) for reading in (plan, *plan.others())
    ]
    some = plan.aggregate == "sum" or all(answer_plan(release, counted).bounds[0] for counted in people)
    if not some:  # the aggregate of nobody is NULL, but for a sum, which is 0 here
        lower = upper = None
    return Answer((), ((lower, readings[0][1], upper),), plan.notes, plan.describe(), plan.name)


def _histogram(release: Opened, plan: Plan) -> Answer:
    """The number of persons with each number of items."""
    if release.anatomy:
        raise unsupported("GROUP BY a number of items, from a release in buckets")
    readings = [_numbers(release, reading) for reading in (plan, *plan.others())]
    endless = release.suppressed and any(reading.counts_any for reading in (plan, *plan.others()))
    notes = plan.notes + (MORE_NOTE,) * endless
    first, rest = readings[0], readings[1:]
    of_others, absent = set[int]().union(*rest), release.size if endless and rest else 0
    rows = [
        (number, 0 if rest else lower, middle, max(upper, absent))
        for number, (lower, middle, upper) in first.items()
        if (upper or absent) and number not in of_others
    ]
    for number in of_others:
        lows, expected, highs = zip(*(reading.get(number, (0, 0.0, absent)) for reading in readings), strict=True)
        if max(highs):
            rows.append((number, *clip(min(lows), expected[0], max(highs))))
    rows.sort()
    return Answer(plan.columns, tuple(rows), notes, plan.describe(), plan.name)


def _numbers(release: Opened, plan: Plan) -> dict[int, Bounds]:
    """The number of persons with each number of items, or with 0 and 1 where the number is a condition."""
    if isinstance(plan.measure, Weights):
        return histogram(release, plan)
    assert plan.measure is not None and not isinstance(plan.measure, Attribute)
    people = replace(plan, counts=IDS, measure=None, aggregate="", other=None)
    cases = ((0, negate(plan.measure)), (1, plan.measure))
    return {n: answer_plan(release, replace(people, condition=both(people.condition, c))).bounds for n, c in cases}


def _with_sums(release: Opened, plan: Plan) -> Answer:
    """A number of persons whose condition compares sums with numbers."""
    if plan.counts != IDS or plan.grouped is not None or release.anatomy:
        raise unsupported("a condition on a sum around another count than of persons", "Use count(DISTINCT id).")
    lows, estimates, highs = zip(*(counted(release, reading) for reading in (plan, *plan.others())), strict=True)
    bounds = clip(min(lows), estimates[0], max(highs))
    return Answer((), (bounds,), plan.notes, plan.describe(), plan.name)


def check(release: Opened, plan: Plan) -> None:
    """Refuse a compiled query whose literals may not be of the original's type.

    Raises:
        InputError: ``ambiguous_item``.
    """
    for reading in (plan, *plan.others()):
        release.unknown(reading.labels)
        release.original.check_numbers(reading.numbers, suppressed=release.suppressed)
        release.original.check_orders(patterns_of(reading))


def answer_plan(release: Opened, plan: Plan, *, unbounded: bool = False) -> Answer:
    """Answer a compiled query.

    Args:
        release: the release.
        plan: the query.
        unbounded: whether a count may have no upper bound (None).

    Raises:
        InputError: ``unsupported_query``, ``query_too_complex`` or ``ambiguous_item``.
    """
    check(release, plan)
    if plan.counts == MEASURE:
        return _histogram(release, plan) if plan.aggregate == "histogram" else _aggregate(release, plan)
    if plan.counts == PAIRS:
        release.original.check_order(symmetric=SIGNS["<>"] <= plan.signs or not plan.signs & SIGNS["<>"])
        counted = Plan(IDS, plan.condition, labels=plan.labels, numbers=plan.numbers)
        found = pairs(release, plan, answer_plan(release, counted).bounds)
        return Answer(plan.columns, tuple(found), plan.notes, plan.describe(), plan.name)
    if any(has_sums(reading.condition) for reading in (plan, *plan.others())):
        return _with_sums(release, plan)
    anatomy = BucketAnswers(release) if release.anatomy else None
    if plan.counts == ITEMS:
        rows: Sequence[Row] = item_rows(release, plan, anatomy)
        if plan.descending:
            rows = rows[::-1]
        if len(plan.columns) > 1:
            rows = [(*(row[0],) * len(plan.columns), *row[1:]) for row in rows]
        return Answer(plan.columns, rows, plan.notes, plan.describe(), plan.name)
    if plan.grouped is not None:
        rows = [(*(row[0],) * len(plan.columns), *row[1:]) for row in _value_rows(release, plan)]
        return Answer(plan.columns, tuple(rows), plan.notes, plan.describe(), plan.name)
    readings: list[Ends] = [
        answered(release, one, unbounded=unbounded) if anatomy is None else anatomy.scalar(one)
        for one in (plan, *plan.others())
    ]
    lower, estimate, upper = readings[0]
    for low, _, high in readings[1:]:
        lower, upper = min(lower, low), None if upper is None or high is None else max(upper, high)
    bounds = (lower, max(estimate, lower), None) if upper is None else clip(lower, estimate, upper)
    return Answer((), (bounds,), plan.notes, plan.describe(), plan.name)
