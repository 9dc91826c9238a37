"""Answer GROUP BY two items of a person: the count of every pair of items, in one pass over the release; and GROUP BY item
of the persons who meet a condition, from item supports: the rules of the question on each item alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from anondb.answers.rules.cells import Array, Possible
from anondb.engine import Table, tuples
from anondb.query.cached_release import Opened
from anondb.query.classes import passing_of
from anondb.query.evaluate import Evaluator, Question
from anondb.query.held_sums import Bounds
from anondb.query.item_tests import ANY_ITEM, Labels, listed
from anondb.query.kinds import Kinds
from anondb.query.parsing import inline_table
from anondb.query.predicates import ALWAYS, NEVER, PAIRS, AtLeast, Condition, Plan, both, conjuncts, has, leaves
from anondb.query.reading import transactions_by_item
from anondb.query.refusals import too_complex, unsupported
from anondb.query.relational import Cell, unseen_parts, values_part, with_cells
from anondb.query.values import OnValue

if TYPE_CHECKING:
    from anondb.query.supported import Groups, SupportedAnswers


MAX_PAIRS = 500_000  # of items
SIGNS: Mapping[str, frozenset[str]] = {
    "<": frozenset({"less"}),
    "<=": frozenset({"less", "equal"}),
    ">": frozenset({"greater"}),
    ">=": frozenset({"greater", "equal"}),
    "<>": frozenset({"less", "greater"}),
    "": frozenset({"less", "equal", "greater"}),
}
"""How the first of two items may compare with the second, by the sign of their comparison; empty without one."""


_TYPES = ("VARCHAR", "VARCHAR", "BIGINT", "BIGINT", "DOUBLE")
SUPPORTS = dict(zip(("released_item", "item", "at_least", "at_most", "weight"), _TYPES, strict=True))
Row = tuple[str, str, int, int]
Counted = tuple[str, str, int, float, int]
"""Two items, then lower bound, what pairs are ordered by, and upper bound."""


def is_single(condition: Condition) -> bool:
    """Whether a condition is always true, or that a person has a certain item."""
    labels = listed(condition.test) if isinstance(condition, AtLeast) and condition.count == 1 else None
    return condition == ALWAYS if labels is None else len(labels) == 1


def _fixed(condition: Condition) -> frozenset[str]:
    """The items that every person has to have."""
    parts = (part for part in conjuncts(condition) if isinstance(part, AtLeast) and is_single(part))
    return frozenset[str]().union(*(listed(part.test) or () for part in parts))


def pairs(release: Opened, plan: Plan, persons: Bounds) -> Sequence[Row]:
    """The pairs of items that may occur together, each with lower bound and upper bound of their support.

    With a condition on the persons, a pair is counted at least in the transactions that meet it for certain, and at most in
    those that may meet it: as far as items that every person has to have, and conditions on attributes, tell.

    Args:
        release: the release.
        plan: the query.
        persons: how many persons meet its condition.

    Raises:
        InputError: ``unsupported_query`` for bags and buckets, or ``query_too_complex``.
    """
    if release.bags is not None or release.anatomy:
        raise unsupported("all pairs of items, from a release of bags or in buckets", "Name one of the two items.")
    if not release.items or plan.condition == NEVER:  # all were suppressed, or nobody counts
        return []
    if plan.condition == ALWAYS:
        return [(first, second, low, high) for first, second, low, _, high in _counted(release, plan, plan.most, None)]
    certain, possible = ({row[:2]: row for row in _counted(release, plan, None, sure)} for sure in (True, False))
    fixed, plain = _fixed(plan.condition), all(map(is_single, conjuncts(plan.condition)))
    rows: list[Counted] = []
    for row in _counted(release, plan, None, None):
        first, second, low, _, most = row
        if plain and fixed <= {first, second}:  # it is one of the pair
            rows.append(row)
        elif (other := possible.get((first, second))) is not None and (upper := min(most, other[4], persons[1])):
            lower, least = certain[first, second][2:4] if (first, second) in certain else (0, 0.0)
            lower = max(lower, low + persons[0] - release.size)
            rows.append((first, second, lower, (least + other[3]) / 2, upper))
    rows.sort(key=lambda row: (-row[3], row[:2]))
    return [(first, second, low, high) for first, second, low, _, high in rows[: plan.most]]


def with_item(release: Opened, item: str) -> dict[str, tuple[int, int]]:
    """Bounds of the number of transactions that hold an item and another one, for each other one (and itself)."""
    plan = Plan(PAIRS, ALWAYS, Labels(frozenset({item})), ANY_ITEM, SIGNS[""])
    return {row[1]: (row[2], row[4]) for row in _counted(release, plan, None, None)}


def _counted(release: Opened, plan: Plan, most: int | None, certain: bool | None) -> list[Counted]:
    """The pairs in all transactions, or in those that meet the condition certainly, or possibly."""
    import pyarrow as pa

    assert plan.test is not None and plan.second is not None
    passing = passing_of((plan.test, plan.second))
    flags = [passing.of(item) for item in release.items]
    supported = "item_supports" in release.manifest and certain is None  # they are of all transactions
    first, second = zip(*flags, strict=True)
    asked = {"number": range(len(flags)), "item": release.items, "first": first, "second": second}
    with release.engine.registered(pa.table(asked)) as items:
        tables: dict[str, Table | exp.Query] = {
            **{name: release.schema.table(name) for name in ("labels", "released_items")},
            **_shown(release, plan, certain),
            "item_supports": release.schema.table("item_supports") if supported else inline_table(SUPPORTS, []),
            "asked": items,
        }
        signs = {sign: sign in plan.signs for sign in sorted(SIGNS[""])}
        limit = MAX_PAIRS + 1 if most is None else most
        rows = release.engine.query(
            "query/pairs", tables, supported=supported, single=not release.local, most=limit, **signs
        )
    if len(rows["first"]) > MAX_PAIRS:
        raise too_complex(
            f"it has over {MAX_PAIRS:,} pairs of items; name some of the items, or ORDER BY the count and LIMIT"
        )
    return list(tuples(rows))


def _shown(release: Opened, plan: Plan, certain: bool | None) -> dict[str, exp.Query]:
    """The released items of each transaction, with whether it is complete, and the incomplete transactions.

    With ``certain`` those of transactions that meet the condition, certainly or possibly.
    """
    shown, incomplete = _all_shown(release)
    if certain is None:
        return {"shown": shown, "incomplete": incomplete}
    shown = exp.select("*").from_(shown.subquery("shown"))
    for part in [part for part in conjuncts(plan.condition) if not is_single(part)]:
        if all(isinstance(leaf, OnValue) for leaf in leaves(part)):
            shown = shown.where(_have_values(release, Question.of(part), certain))
        elif certain:  # no rule reads who meets it
            shown = shown.where(exp.false())
    for item in sorted(_fixed(plan.condition)):
        hidden = release.suppressed and (release.differing or item not in release.images)
        if not certain and hidden and not release.differing:  # anybody may have it
            continue
        images = [label for label in release.images.get(item, ()) if not certain or release.sizes[label] == 1]
        holding = _holding(release, images)
        shown = shown.where(exp.or_(holding, exp.Not(this=exp.column("complete"))) if hidden and not certain else holding)
    return {"shown": shown, "incomplete": incomplete}


def _have_values(release: Opened, question: Question, certain: bool) -> exp.Expr:
    """The condition that the published values of a transaction meet a question on attributes for certain, or possibly."""
    attributes = [a for a in release.attributes or () if a.name in question.attributes]
    evaluator, unseen = Evaluator(question), unseen_parts(question)

    def are_met(cells: Sequence[Cell]) -> bool:
        values = [values_part(question, *one) for one in zip(attributes, cells, strict=True)]
        outcome = evaluator.outcome([*unseen, *values])
        return bool(outcome.least if certain else outcome.greatest)

    if not attributes:  # what no release shows of anybody
        return exp.true() if are_met(()) else exp.false()
    records = release.schema.table("records")
    every = exp.select("transaction_id", exp.Literal.string("").as_("signature")).from_(records.expression())
    numbered, cells = with_cells(release.engine, records, attributes, every)
    met = [exp.Literal.string(f"{number}|") for number, of in cells.items() if are_met(of)]
    among = exp.In(this=exp.column("signature"), expressions=met) if met else exp.false()
    ids = exp.select("transaction_id").from_(numbered.subquery("numbered")).where(among)
    return exp.In(this=exp.column("transaction_id"), query=ids.subquery())


def _holding(release: Opened, labels: Sequence[str]) -> exp.Expr:
    """The condition that a transaction has one of some released items."""
    if not labels:
        return exp.false()
    names = [exp.Literal.string(label) for label in labels]
    wanted = exp.In(this=exp.column("item"), expressions=names)
    numbers = exp.select("item_id").from_(release.schema.table("labels").expression()).where(wanted)
    items = exp.select("transaction_id").from_(release.schema.table("transaction_items").expression())
    held = items.where(exp.In(this=exp.column("item_id"), query=numbers.subquery()))
    return exp.In(this=exp.column("transaction_id"), query=held.subquery())


def _all_shown(release: Opened) -> tuple[exp.Select, exp.Select]:
    """The released items of each transaction, with whether it is complete, and the incomplete transactions."""
    items = release.schema.table("transaction_items").expression()
    columns = [exp.column(name, items.name) for name in ("transaction_id", "item_id")]
    if not release.differing:
        none = exp.select("transaction_id").from_(items).where(exp.false())
        return exp.select(*columns, exp.true().as_("complete")).from_(items), none
    ids = release.schema.table("transaction_ids").expression()
    complete = exp.column("complete", ids.name)
    same = columns[0].eq(exp.column("transaction_id", ids.name))
    incomplete = exp.select("transaction_id").from_(ids).where(exp.Not(this=complete))
    return exp.select(*columns, complete).from_(items).join(ids, on=same), incomplete


MAX_QUESTIONS = 60  # about items of a list, one by one
MAX_NUMBERS = 1_000_000  # of the programs that are solved at once
MAX_COLUMNS = 700  # of a program for each item of a list


def beside(answers: SupportedAnswers, release: Opened, condition: Condition, items: Sequence[str]) -> dict[str, Bounds]:
    """Bounds of the number of transactions that meet a condition and hold an item, for each of some items."""
    question = Question.of(condition)
    low, high = answers.of_question(question, None)
    alone = answers.alone
    ends = {item: (max(0, low + alone[item][0] - release.size), min(high, alone[item][1])) for item in items}
    if release.local:
        if is_single(condition):
            shown = with_item(release, *_fixed(condition))
            return {other: _both(ends[other], shown.get(other, (0, answers.lost))) for other in items}
        return ends
    passing, kinds = passing_of(question.tests), answers.kinds(question)
    if kinds is None:
        return ends
    own = {answers.members.labels[label] for label in kinds[0].own if label >= 0}
    apart = [item for item in items if release.images[item][0] not in own]
    usual = {item for item in apart if passing.of(item) == passing.usual}  # of the kind of all that no test names
    for alike, rest in (
        ([i for i in apart if i in usual], kinds[0].rest),
        ([i for i in apart if i not in usual], None),
    ):
        for item, closer in _other_pairs(release, answers, *kinds, alike, rest).items():
            ends[item] = _both(ends[item], closer)
    for item in [item for item in items if release.images[item][0] in own][:MAX_QUESTIONS]:
        ends[item] = _both(ends[item], answers.of_question(Question.of(both(condition, has(item))), None))
    return ends


def _other_pairs(
    release: Opened,
    answers: SupportedAnswers,
    kinds: Kinds,
    groups: Groups,
    cells: Possible,
    items: Sequence[str],
    rest: int | None,
) -> dict[str, Bounds]:
    """Bounds for items of other released items than those that the condition names: equal ones are computed once, and
    all at the same time. ``rest`` is their kind if it is that of all items that no test names."""
    supports = answers.supports
    counted = transactions_by_item(release, kinds.classes)
    if counted is None or release.numbered is None or len(cells.group) * 3 > MAX_COLUMNS or not items:
        return {}
    shown = kinds.classes.all_counts(counted[0]) if kinds.classes.parts else [()] * len(counted[0])
    group = {tuple(row): n for n, row in enumerate(groups.counts.tolist())}
    order = [group[row] for row in shown]
    with_label = np.zeros((len(counted[1]), len(groups.numbers)), np.int64)
    with_label[:, order] = counted[1]
    places = [answers.members.places[item][0] for item in items]
    asked = np.array([(supports.label[p], supports.least[p], supports.most[p]) for p in places], np.int64)
    different, which = np.unique(asked, axis=0, return_inverse=True)
    numbers = release.numbered.numbers
    there = with_label[[numbers.get(answers.members.labels[label], 0) for label in different[:, 0]]]
    cases = np.concatenate([groups.numbers - there, there], axis=1)
    held = np.array(kinds.space.vectors)[cells.vector]
    may = np.flatnonzero(held[:, rest] > 0) if rest is not None else np.arange(len(held))
    column = np.concatenate([np.arange(len(held)), np.arange(len(held)), may])  # those that lack the item, then holders
    holds = np.repeat([0, 0, 1], [len(held), len(held), len(may)])
    later = np.repeat([0, len(groups.numbers), len(groups.numbers)], [len(held), len(held), len(may)])
    of_group = cells.group[column] + later
    sort = np.argsort(of_group, kind="stable")
    sums, low, high = kinds.sums(supports, groups.counts[cells.group], cells.vector, answers.lost)
    program = Possible(of_group[sort], cells.vector[column][sort]).cells(np.vstack([sums[:, column], holds])[:, sort])
    values = (kinds.values[cells.vector[column]] * holds)[sort]
    step = max(1, MAX_NUMBERS // (len(values) * (len(cases[0]) + len(sums) + 1)))
    bounds: list[Array] = []
    for start in range(0, len(cases), step):
        piece = slice(start, start + step)
        ends = [
            np.column_stack([np.repeat(e[None], len(cases[piece]), axis=0), different[piece, n]])
            for e, n in ((low, 1), (high, 2))
        ]
        bounds.append(np.stack(program.bounds(values, cases[piece], *ends), axis=1))
    ends_of = np.concatenate(bounds)[which.reshape(-1)].tolist()
    return {item: (least, most) for item, (least, most) in zip(items, ends_of, strict=True)}


def _both(one: Bounds, other: Bounds) -> Bounds:
    """What both bounds say."""
    return max(one[0], other[0]), min(one[1], other[1])
