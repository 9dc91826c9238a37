"""Answer GROUP BY two items of a person: the count of every pair of items, in one pass over the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.engine import Table
from anondb.query.cached_release import Opened
from anondb.query.item_tests import ANY_ITEM, Labels, listed
from anondb.query.parsing import inline_table
from anondb.query.plan import PAIRS, Plan
from anondb.query.predicates import ALWAYS, NEVER, AtLeast, Condition, conjuncts
from anondb.query.refusals import too_complex, unsupported
from anondb.query.totals import Bounds

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


Row = tuple[str, str, int, int]
Counted = tuple[str, str, int, float, int]
"""Two items, then lower bound, what pairs are ordered by, and upper bound."""


def is_single(condition: Condition) -> bool:
    """Whether a condition is always true, or that a person has a certain item."""
    if isinstance(condition, AtLeast):
        return condition.count == 1 and len(listed(condition.test) or "12") == 1
    return condition == ALWAYS


def _fixed(condition: Condition) -> frozenset[str]:
    """The items that every person has to have."""
    parts = (part for part in conjuncts(condition) if isinstance(part, AtLeast))
    return frozenset[str]().union(*(listed(part.test) or () for part in parts))


def pairs(release: Opened, plan: Plan, persons: Bounds) -> Sequence[Row]:
    """The pairs of items that may occur together, each with lower bound and upper bound of their support.

    With items that every person has to have, a pair is counted at least in the transactions that have these for certain,
    and at most in those that may have them.

    Args:
        release: the release.
        plan: the query.
        persons: how many persons meet its condition.

    Raises:
        InputError: ``unsupported_query`` for bags and buckets, or ``query_too_complex``.
    """
    if release.bags is not None or release.manifest.get("model") == "anatomy":
        raise unsupported("all pairs of items, from a release of bags or in buckets", "Name one of the two items.")
    if not release.items or plan.condition == NEVER:  # all were suppressed, or nobody counts
        return []
    if plan.condition == ALWAYS:
        return [(first, second, low, high) for first, second, low, _, high in _counted(release, plan, plan.most, None)]
    certain, possible = ({row[:2]: row for row in _counted(release, plan, None, known)} for known in (True, False))
    fixed, (_, persons_high) = _fixed(plan.condition), persons
    rows: list[Counted] = []
    for row in _counted(release, plan, None, None):
        first, second, _, _, most = row
        if fixed <= {first, second}:  # it is one of the pair
            rows.append(row)
        elif (other := possible.get((first, second))) is not None and (upper := min(most, other[4], persons_high)):
            lower, least = certain[first, second][2:4] if (first, second) in certain else (0, 0.0)
            rows.append((first, second, lower, (least + other[3]) / 2, upper))
    rows.sort(key=lambda row: (-row[3], row[:2]))
    return [(first, second, low, high) for first, second, low, _, high in rows[: plan.most]]


def with_item(release: Opened, item: str) -> dict[str, tuple[int, int]]:
    """Bounds of the number of transactions that hold an item and another one, for each other one (and itself)."""
    plan = Plan(PAIRS, ALWAYS, Labels(frozenset({item})), ANY_ITEM, SIGNS[""])
    return {row[1]: (row[2], row[4]) for row in _counted(release, plan, None, None)}


def _counted(release: Opened, plan: Plan, most: int | None, certain: bool | None) -> list[Counted]:
    """The pairs in all transactions, or in those that have the items of the condition certainly, or possibly."""
    import pyarrow as pa

    assert plan.test is not None and plan.second is not None
    passing = release.passing([plan.test, plan.second])
    flags = [passing.of(item) for item in release.items]
    supported = "item_supports" in release.manifest and certain is None  # they are of all transactions
    none = {
        "released_item": "VARCHAR",
        "item": "VARCHAR",
        "at_least": "BIGINT",
        "at_most": "BIGINT",
        "weight": "DOUBLE",
    }
    first, second = zip(*flags, strict=True)
    asked = {"number": range(len(flags)), "item": release.items, "first": first, "second": second}
    with release.engine.registered(pa.table(asked)) as items:
        tables: dict[str, Table | exp.Query] = {
            **{name: release.schema.table(name) for name in ("labels", "released_items")},
            **_shown(release, plan, certain),
            "item_supports": release.schema.table("item_supports") if supported else inline_table(none, []),
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
    return list(zip(*(column.tolist() for column in rows.values()), strict=True))


def _shown(release: Opened, plan: Plan, certain: bool | None) -> dict[str, exp.Query]:
    """The released items of each transaction, with whether it is complete, and the incomplete transactions.

    With ``certain`` those of transactions that have the items of the condition, certainly or possibly.
    """
    shown, incomplete = _all_shown(release).values()
    for item in sorted(_fixed(plan.condition)) if certain is not None else ():
        hidden = release.suppressed and (release.differing or item not in release.images)
        if not certain and hidden and not release.differing:  # anybody may have it
            continue
        images = [label for label in release.images.get(item, ()) if not certain or release.sizes[label] == 1]
        shown = exp.select("*").from_(shown.subquery("shown"))
        holding = _holding(release, images)
        shown = shown.where(
            exp.or_(holding, exp.Not(this=exp.column("complete"))) if hidden and not certain else holding
        )
    return {"shown": shown, "incomplete": incomplete}


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


def _all_shown(release: Opened) -> dict[str, exp.Query]:
    """The released items of each transaction, with whether it is complete, and the incomplete transactions."""
    items = release.schema.table("transaction_items").expression()
    columns = [exp.column(name, items.name) for name in ("transaction_id", "item_id")]
    if not release.differing:
        none = exp.select("transaction_id").from_(items).where(exp.false())
        return {"shown": exp.select(*columns, exp.true().as_("complete")).from_(items), "incomplete": none}
    ids = release.schema.table("transaction_ids").expression()
    complete = exp.column("complete", ids.name)
    same = columns[0].eq(exp.column("transaction_id", ids.name))
    return {
        "shown": exp.select(*columns, complete).from_(items).join(ids, on=same),
        "incomplete": exp.select("transaction_id").from_(ids).where(exp.Not(this=complete)),
    }
