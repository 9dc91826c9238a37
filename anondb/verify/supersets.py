"""k^m-anonymity for every m at once: each published transaction needs k supersets (docs/algorithms/models.md#kinf)."""

from dataclasses import dataclass

from anondb.engine import Runner, Table, reads
from anondb.engine.telling import told
from anondb.engine.texts import sql
from anondb.verify import work as limits
from anondb.verify.result import Witness
from anondb.verify.work import Work, bound, check_budget

MOST_LABELS = 100_000_000  # of witnesses, in rows
NARROWED = 2  # items besides the anchor that are matched one by one before the others are counted


@dataclass(frozen=True)
class Supersets:
    """The distinct non-empty transactions that have fewer than k supersets, as work tables. ``violations`` is ``(id,
    support)``, ``sets`` the distinct transactions, ``set_items`` their items as codes."""

    count: int
    violations: tuple[Table, ...]
    sets: Table
    set_items: Table


@dataclass(frozen=True)
class Plan:
    """The distinct transactions, the anchor of each with fewer than k copies, and the cost of the check."""

    sets: Table
    set_items: Table
    anchors: Table | None
    candidates: int
    parts: int


def plan(place: Work[Runner], coded: Table, k: int) -> Plan:
    """Deduplicate the transactions and give each with fewer than k copies an anchor: a rare pair of its items. Only
    transactions that hold the anchor can be supersets, so ``candidates`` bounds the rows of the join."""
    lists = reads.rows(coded, "tid, list_sort(list(item)) AS items", group="tid")
    alike = "min(tid) AS id, items, len(items) AS length, count(*) AS copies"
    sets = place.table("sets", reads.rows(lists, alike, group="items"))
    set_items = place.table("set_items", reads.rows(sets, "id, unnest(items) AS item"))
    if not place.count(reads.rows(sets, "id", where=sql("copies < {}", k))):
        return Plan(sets, set_items, None, 0, 0)
    pair_rows = reads.rows(sets, "CAST(coalesce(sum(length * (length - 1) // 2), 0) AS BIGINT) AS pair_rows")
    check_budget(place.row(pair_rows)["pair_rows"], limits.MAX_JOINED_ROWS, "pairs of items")
    number, pair = "one.item AS itemset, other.item, count(*) AS support", "one.item, other.item"
    pairs = reads.joined(set_items, set_items, "id", number, where="one.item < other.item", group=pair)
    anchors = place.table(
        "anchors", "anchors", {"sets": sets, "set_items": set_items, "pairs": pairs}, k=k, chunk=limits.CHUNK_ROWS
    )
    expected = "CAST(coalesce(sum(expected), 0) AS BIGINT) AS candidates, coalesce(max(part), -1) + 1 AS parts"
    size = place.row(reads.rows(anchors, expected))
    return Plan(sets, set_items, anchors, size["candidates"], size["parts"])


def few_supersets(place: Work[Runner], codes: Table, planned: Plan, k: int) -> Supersets:
    """Find the distinct transactions t with ``|{u : t is a subset of u}| < k``, u over all transactions
    (docs/algorithms/models.md#kinf)."""
    sets, set_items, anchors = planned.sets, planned.set_items, planned.anchors
    check_budget(planned.candidates, limits.MAX_JOINED_ROWS, "possible supersets")
    single = reads.rows(sets, "id, items[1] AS code", where="length = 1")
    rare = sql("other.support < {}", k)
    few = [place.table("few_single", reads.joined(single, codes, "code", "one.id, other.support", where=rare))]
    if anchors is not None:
        anchored = place.table("anchored", "anchored", {"set_items": set_items, "anchors": anchors})
        rests = place.table("rests", "rests", {"anchors": anchors, "set_items": set_items})
        for part in told(place.engine.progress, "counting supersets of transactions", range(planned.parts)):
            tables = {"anchors": anchors, "anchored": anchored, "sets": sets}
            possible = place.table("possible", "possible", tables, part=part)
            for position in range(1, NARROWED + 1):
                tables = {"possible": possible, "rests": rests, "set_items": set_items}
                narrowed = place.table(f"possible_{position}", "narrowed", tables, position=position)
                place.drop(possible)
                possible = narrowed
            tables = {"possible": possible, "rests": rests, "set_items": set_items}
            contained = bound("supersets", tables, settled=NARROWED + 2)
            violating = bound("few_supersets", {"anchors": anchors, "sets": sets, "supersets": contained}, k=k, part=part)
            few.append(place.table(f"few_{part}", violating))
            place.drop(possible)
    count = sum(place.count(table) for table in few)
    return Supersets(count, tuple(few), sets, set_items)


def witnesses(place: Work[Runner], few: Supersets, names: Table, most: int) -> list[Witness]:
    """The first violating transactions by size and labels, with the number of their supersets."""
    first: list[Witness] = []
    for violations in few.violations:
        tables = {"violations": violations, "sets": few.sets, "set_items": few.set_items, "names": names}
        rows = place.engine.fetch("verify/set_witnesses", tables, most=MOST_LABELS, how_many=most)
        labels: dict[int, list[str]] = {}
        supports: dict[int, int] = {}
        for at, support, label in zip(rows["place"], rows["support"], rows["label"], strict=True):
            labels.setdefault(int(at), []).append(str(label))
            supports[int(at)] = int(support)
        first += [Witness(tuple(sorted(labels[at])), supports[at]) for at in labels]
    return sorted(first, key=lambda w: (len(w.items), w.items))[:most]
