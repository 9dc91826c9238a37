"""Convert queries to SELECTs over known rows: common table expressions, set operations, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.answers.ranged.expressions import Around
from anondb.answers.ranged.item_filters import with_counted_items
from anondb.answers.ranged.relation import SURE, Column, Ranged, Sources, projected
from anondb.answers.ranged.values import Value, check_equal, common_limit, holds
from anondb.query.parsing import lowered
from anondb.query.refusals import name_of, only, too_complex, unsupported

if TYPE_CHECKING:
    from anondb.answers.persons.counts import Counts
    from anondb.answers.persons.people import Persons

MAX_QUERIES = 2_000  # that one query consists of, once those that it names are written out
ROWS_HINT = "A release tells counts of persons and of their items: count them, or GROUP BY the item."
SIDE = "side"
_FLAGS = {"there": exp.true(), SURE: exp.column(SURE)}


@dataclass(frozen=True)
class Cte:
    """A common table expression: its query, and the ones before it."""

    node: exp.CTE
    env: Env
    of_persons: bool


Env = Mapping[str, Cte]


@dataclass(frozen=True)
class Grouped:
    """The groups and counts of a SELECT over tables of persons.

    Attributes:
        rows: one row for each group.
        keys: for each grouped expression the number of its column.
        counts: for each aggregate of the SELECT the expression that replaces it, with columns of ``rows``, or what
            to say of one that no rule reads.
    """

    rows: Ranged
    keys: Mapping[exp.Expr, int]
    counts: Mapping[exp.Expr, exp.Expr | str]


def with_ctes(node: exp.Expr, env: Env, of_persons: Callable[[exp.Expr, Env], bool]) -> Env:
    """The common table expressions that a query sees: its own, and those around it."""
    clause = node.args.get("with_")
    if clause is None:
        return env
    only(clause, "expressions")
    if all(lowered(cte.alias) in env and env[lowered(cte.alias)].node == cte for cte in clause.expressions):
        return env  # they are known already; an earlier one does not see a later one
    visible = dict(env)
    for cte in clause.expressions:
        only(cte, "this", "alias", "materialized")
        visible[lowered(cte.alias)] = Cte(cte, dict(visible), of_persons(cte.this, visible))
    return visible


@dataclass
class Compiler:
    """Converts a query to known rows, whose values have bounds, and collects notes for the analyst.

    Attributes:
        people: the tables of persons.
        tables: the other tables.
        notes: remarks on the interpretation of the query, each once.
        queries: how many queries were converted; a common table expression is converted wherever it is named.
    """

    people: Persons
    tables: Counts
    notes: dict[str, None] = field(default_factory=dict)
    queries: int = 0

    # ---------------------------------------------------------------- queries

    def query(self, node: exp.Expr, env: Env, *, ended: bool = False, around: Around | None = None) -> Ranged:
        """The rows of a query.

        Args:
            node: the query.
            env: the common table expressions that it sees.
            ended: whether ORDER BY and LIMIT are done elsewhere, and only say which rows are needed.
            around: looks up the columns of the rows around a subquery.

        Raises:
            InputError: ``unsupported_query`` or ``query_too_complex``.
        """
        self.queries += 1
        if self.queries > MAX_QUERIES:
            raise too_complex(f"it asks more than {MAX_QUERIES:,} queries, of which it names some many times")
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            return self.query(node.this, env, ended=ended, around=around)
        from anondb.answers.ranged.listed_groups import beside_totals, by_parts
        from anondb.answers.ranged.over_groups import as_one
        from anondb.answers.ranged.quantified import with_exists
        from anondb.answers.ranged.rollups import over_rows
        from anondb.answers.ranged.running_joins import with_counts_up_to
        from anondb.answers.ranged.selects import SelectRows
        from anondb.answers.ranged.together import together
        from anondb.answers.ranged.unions import beside_table, grouping_sets

        env = with_ctes(node, env, self.people.of_persons)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, env, ended=ended)
        if not isinstance(node, exp.Select):
            raise unsupported(name_of(node))
        several = grouping_sets(node)
        if several is not None:
            return self.query(several, env, ended=ended)
        other = (
            over_rows(node, env)
            or as_one(node, env, self.tables.is_aggregate)
            or beside_table(node, env, self)
            or beside_totals(node, env, self)
        )
        persons = {name: of for name, of in self.tables.persons_tables.items() if name not in env}
        other = other or with_exists(node, env, self) or by_parts(node, persons)
        other = other or with_counts_up_to(node, env, self)
        if other is not None:
            return self.query(other, env, ended=ended)
        if self.people.of_persons(node, env):
            raise unsupported("the rows of single persons", ROWS_HINT)
        one = together(node, lambda query: self.people.counted(query, env, self))
        counted = with_counted_items(one, *self.persons_tests(env))
        return SelectRows(self, counted, env, ended=ended, around=around).rows()

    def persons_tests(self, env: Env) -> tuple[Callable[[exp.Expr], bool], Callable[[exp.Expr], bool]]:
        """Whether the rows of a query belong to single persons, and whether it reads a table of persons."""
        people = self.people
        return (lambda query: people.of_persons(query, env)), (lambda query: people.reads_persons(query, env))

    def once(self, side: exp.Expr, env: Env) -> exp.Expr:
        """A query of which it does not matter how often it has a row: a column of persons with each value once."""
        if not isinstance(side, exp.Select) or not self.people.of_persons(side, env):
            return side
        copy = side.copy()
        copy.set("distinct", exp.Distinct())
        return copy

    def _set_operation(self, node: exp.SetOperation, env: Env, *, ended: bool) -> Ranged:
        only(node, "this", "expression", "distinct", "with_", "order", "limit", "offset")
        repeated = isinstance(node, exp.Union) and not node.args.get("distinct")
        sides = [self.query(side if repeated else self.once(side, env), env) for side in (node.this, node.expression)]
        if len({len(side.columns) for side in sides}) != 1:
            raise unsupported("a set operation of different numbers of columns")
        if not repeated and not all(replace(side, flagged=False).exact for side in sides):
            raise unsupported(f"{node.key.upper()} that compares estimates", "Use UNION ALL.")
        pairs = list(zip(*(side.columns for side in sides), strict=True))
        for pair in () if repeated else pairs:
            check_equal(*pair)
        columns = tuple(
            replace(
                a,
                **{k: getattr(a, k) or getattr(b, k) for k in ("bounded", "truth", "item")},
                unknown=(a.unknown or b.unknown) and not (a.bounded or b.bounded),
                plain=a.plain and b.plain,
                whole=a.whole and b.whole,
                why=a.why or b.why,
                least=common_limit(min, (a.least, b.least)),
                most=common_limit(max, (a.most, b.most)),
                part=a.part if a.part == b.part else None,
                maybe=a.maybe or b.maybe,
            )
            for a, b in pairs
        )
        flagged = any(side.flagged for side in sides)
        asked, is_open, unsure = (any(getattr(side, name) for side in sides) for name in ("asked", "open", "unsure"))
        if flagged and not repeated:
            asked = True
            made: exp.Query = _compared(node, sides, columns)
        else:
            made = node.copy()
            for key in ("with_", "order", "limit", "offset"):
                made.set(key, None)
            for key, side in zip(("this", "expression"), sides, strict=True):
                made.set(key, _aligned(side, columns, flagged))
        together = Ranged(made, columns, flagged, asked, is_open, unsure, any(side.cut for side in sides))
        if ended or not any(node.args.get(key) for key in ("order", "limit", "offset")):
            return replace(together, open=together.open or ended)
        from anondb.answers.ranged.selects import SelectRows

        outer = exp.Select(expressions=[exp.Star()])
        for key in ("order", "limit", "offset"):
            outer.set(key, node.args.get(key))
        return SelectRows(self, outer, env, together).rows()


def _aligned(side: Ranged, columns: Sequence[Column], flagged: bool) -> exp.Select:
    """The rows of one side of a set operation, with bounds where the other side has them."""
    sources, values = Sources(), []
    rows = sources.add(side, "")
    for (_, value), column in zip(sources.star(), columns, strict=True):
        ends = value.truths if column.truth else value.not_null
        sure = (value.sure or exp.true()) if column.maybe else None
        bounded = Value(*ends, truth=column.truth, sure=sure)
        values.append(bounded if column.bounded else Value(why=column.why) if column.unknown else value)
    listed = projected(values)
    if flagged:
        listed.append((sources.sure[0] if sources.sure else exp.true()).as_(SURE))
    return exp.select(*listed).from_(rows)


def _compared(node: exp.SetOperation, sides: Sequence[Ranged], described: Sequence[Column]) -> exp.Select:
    """The rows of a set operation without repetitions, with flags.

    Args:
        node: the operation.
        sides: what it compares: rows whose values are exact.
        described: the columns of the result.

    Raises:
        InputError: ``unsupported_query``: the operation keeps repetitions.
    """
    if not node.args.get("distinct"):
        raise unsupported(f"{node.key.upper()} ALL of rows that an estimate chose", "Leave ALL out.")
    numbered = [_aligned(side, described, True).select(exp.Literal.number(n).as_(SIDE)) for n, side in enumerate(sides)]
    columns = [exp.column(f"c{n}") for n in range(len(described))]
    grouped = exp.select(*columns, *(_any(name, n) for n in (0, 1) for name in _FLAGS))
    grouped = grouped.from_(exp.union(*numbered, distinct=False).subquery("both")).group_by(*columns)
    left, right = ({name: exp.column(f"{name}{n}") for name in _FLAGS} for n in (0, 1))
    if isinstance(node, exp.Except):
        kept = exp.and_(left["there"], exp.not_(right[SURE]))
        # a row that the other side does not list may be there if rows are missing from it
        sure = exp.false() if sides[1].open else exp.and_(left[SURE], exp.not_(right["there"]))
    else:
        join = exp.and_ if isinstance(node, exp.Intersect) else exp.or_
        kept, sure = (join(left[name], right[name]) for name in _FLAGS)
    return exp.select(*columns, sure.as_(SURE)).from_(grouped.subquery("groups")).where(kept)


def _any(flag: str, side: int) -> exp.Expr:
    """Whether one of the rows of a side has a flag."""
    held = exp.and_(exp.column(SIDE).eq(side), _FLAGS[flag].copy())
    return holds(exp.LogicalOr(this=held), unknown=False).as_(f"{flag}{side}")
