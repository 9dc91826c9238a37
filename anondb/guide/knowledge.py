"""What attackers who know one, two or three items of a person find in the original data."""

from __future__ import annotations

from dataclasses import dataclass

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Query, Rows, Table, query_of, reads
from anondb.engine.telling import told
from anondb.engine.texts import Sql, sql
from anondb.errors import BudgetExceeded
from anondb.models.transactional import KmAnonymity
from anondb.verify.km import verify_km

SIZES = (1, 2, 3)  # how many items of a person are known
MAX_ROWS = 50_000_000  # of the join over the sets of m items of each person: about half a minute of CPU time
CHUNK_ROWS = 3_000_000  # of one aggregate: some hundred MB


@dataclass(frozen=True)
class Threat:
    """What an attacker finds who knows at most m items of a person."""

    m: int  # the number of known items
    # the minimal itemsets of at most m items that at least one and fewer than k persons have, as ``verify`` counts
    # them; None if they were not counted
    violations: int | None
    # the persons with a set of at most m items that no other person has; None if they were not counted
    alone: int | None
    # the rows of the join that counts sets of m items, 0 for m = 1; more than ``MAX_ROWS`` are not counted
    rows: int = 0
    skipped: str | None = None  # why they were not counted; None if they were


def what_attackers_find(engine: Engine, dataset: Dataset, k: int, *, most: int = max(SIZES)) -> tuple[Threat, ...]:
    """What attackers find who know one, two and three (at most ``most``) items of a person; k is that of the promise, for
    violations."""
    rows = join_rows(engine, dataset.transactions)
    alone = engine.create("guide_alone", alone_by_one(dataset.transactions))
    counts: list[Threat] = []
    for m in SIZES[:most]:
        skipped = counts[-1].skipped if counts else None
        if skipped is None and rows[m] > MAX_ROWS:
            skipped = f"the sets of {m} items of each person are {rows[m]:,} rows, and at most {MAX_ROWS:,} are counted"
        if skipped is None:
            try:
                model = KmAnonymity(k, m)
                verified = verify_km(engine, dataset.transactions, dataset.items, model, chunk_rows=CHUNK_ROWS)
            except BudgetExceeded as error:
                skipped = str(error)
        if skipped is not None:
            counts.append(Threat(m, None, None, rows[m], skipped))
            continue
        if m > 1:
            add_alone(engine, dataset.transactions, alone, m)
        counts.append(Threat(m, verified.violations, row_count(engine, alone), rows[m]))
    engine.drop(alone)
    return tuple(counts)


def join_rows(engine: Engine, transactions: Table) -> dict[int, int]:
    """The rows of the joins that count sets of 1, 2 and 3 items."""
    facts = engine.query("guide/join_rows", {"transactions": transactions}, least=2)
    return {1: 0, 2: int(facts["pairs"][0]), 3: int(facts["triples"][0])}


def alone_by_one(transactions: Rows) -> Query:
    """The transactions ``(tid)`` with an item that no other transaction has."""
    only = reads.rows(transactions, "min(tid) AS tid", group="item", having="count(*) = 1")
    return reads.rows(only, "tid", distinct=True, order="tid")


def add_alone(engine: Engine, transactions: Table, alone: Table, m: int) -> None:
    """Add to the table ``alone``, which has the persons who stand alone by fewer than m items, those who do by m."""
    if m == 1:
        single = query_of("guide/newly_alone_by_one", {"transactions": transactions, "alone": alone})
        engine.run(sql("INSERT INTO {} {}", alone, Sql(single.text)), "counting persons who stand alone")
        return
    shared = engine.create("guide_shared", "guide/shared_items", {"transactions": transactions, "alone": alone})
    name = "guide/alone_by_two" if m == 2 else "guide/alone_by_three"
    for low, high in told(engine.progress, f"persons who stand alone by {m} items", ranges(engine, shared, m)):
        rows = query_of(name, {"transactions": shared, "alone": alone}, {"low": low, "high": high})
        engine.run(sql("INSERT INTO {} {}", alone, Sql(rows.text)), "counting persons who stand alone")
    engine.drop(shared)


def ranges(engine: Engine, transactions: Table, m: int) -> list[tuple[int, int]]:
    """Ranges of the smallest item of a set of m items, each with about ``CHUNK_ROWS`` rows of the join."""
    rows = engine.query("guide/ranges", {"transactions": transactions}, m=m, chunk=CHUNK_ROWS)
    return list(zip(rows["low"].tolist(), rows["high"].tolist(), strict=True))


def row_count(engine: Engine, table: Table) -> int:
    """The number of rows of a table."""
    return int(engine.scalar(reads.counted(table)))
