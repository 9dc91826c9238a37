"""What left the house, and which statements made it: the part of the ledger that publishing writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime

from anondb.engine import Engine, Table
from anondb.release.ledger import (
    PUBLICATIONS,
    STATEMENTS,
    LedgerEntry,
    append,
    ensure,
    ledger_table,
    now,
    plain,
    present,
    system_user,
)


@dataclass(frozen=True)
class Publication:
    """One sealed file.

    Attributes:
        name, release_id: of the release.
        file: the name of the file, without its directory.
        transactions, rows: what is in it.
        allowed_overlap: whether the owner said that it may overlap with what was published before.
        smallest_candidates: where it does and this could be measured, the fewest candidates that both releases leave.
        published, user_name: when (UTC, without a time zone), and who asked.
    """

    name: str
    release_id: str
    file: str
    transactions: int
    rows: int
    allowed_overlap: bool = False
    smallest_candidates: int | None = None
    published: datetime = field(default_factory=now)
    user_name: str = field(default_factory=system_user)


@dataclass(frozen=True)
class Intersection:
    """What the join of two releases of the same persons leaves.

    Attributes:
        other: the name of the release that was published before.
        persons: how many persons of the source both may hold.
        smallest_of_one, smallest_of_two: the fewest candidates for whoever knows one item, or two items that some person
            has; None where this could not be measured (another kind of recoding, or what it needs is gone).
        below_k: how many such pieces of knowledge leave fewer than k candidates.
    """

    other: str
    persons: int
    smallest_of_one: int | None = None
    smallest_of_two: int | None = None
    below_k: int | None = None

    @property
    def smallest(self) -> int | None:
        """The smallest candidate set."""
        known = [n for n in (self.smallest_of_one, self.smallest_of_two) if n is not None]
        return min(known) if known else None

    @property
    def words(self) -> str:
        """One sentence for the owner."""
        with_other = f"Joined with {self.other!r}, published before, of {self.persons:,} persons:"
        if self.smallest is None:
            return f"{with_other} the smallest candidate set cannot be measured."
        return (
            f"{with_other} the smallest candidate set is {self.smallest:,};"
            f" {self.below_k:,} combinations of one or two items leave fewer than k."
        )


def record_publication(engine: Engine, catalog: str, publication: Publication) -> None:
    """Note that a release leaves the house. Call it inside ``engine.transaction()``."""
    ensure(engine, catalog)
    row = {c: getattr(publication, c) for c in PUBLICATIONS}
    texts = {c: None if value is None else str(value) for c, value in row.items()}
    append(engine, ledger_table(catalog, "publications"), PUBLICATIONS, [texts])


def publications(engine: Engine, catalog: str) -> list[Publication]:
    """All that was published, the oldest first."""
    table = ledger_table(catalog, "publications")
    if not present(engine, table, PUBLICATIONS):
        return []
    found = engine.query("release/publications", {"publications": table})
    names = [f.name for f in fields(Publication)]
    return [Publication(**{n: plain(found[n][i]) for n in names}) for i in range(len(found["name"]))]


def record_statements(engine: Engine, catalog: str, release_id: str, statements: Sequence[str]) -> None:
    """Keep the text of the statements that made a release; values are not in them. Call it after ``ledger.record``."""
    rows: list[dict[str, str | None]] = [
        {"release_id": release_id, "step": str(n), "statement": text} for n, text in enumerate(statements, 1)
    ]
    append(engine, ledger_table(catalog, "statements"), STATEMENTS, rows)


def statements_of(engine: Engine, catalog: str, release_id: str) -> list[str]:
    """The statements that made a release, in order."""
    table = ledger_table(catalog, "statements")
    if not present(engine, table, STATEMENTS):
        return []
    return [
        str(s)
        for s in engine.query("release/statements_run", {"statements": table}, release_id=release_id)["statement"]
    ]


def measure_intersection(
    engine: Engine, data: tuple[Table, Table], members: tuple[Table, Table], other: LedgerEntry, k: int, persons: int
) -> Intersection:
    """The candidates that two global recodings of one source leave together, counted in SQL.

    Whoever knows that a person has an item looks for its image in both releases. The candidates are the persons who have
    both images; the two releases' own numbers tell nothing, since they are fresh.

    Args:
        engine: the engine, inside a transaction.
        data: work tables ``(tid, item)`` and ``(item, label)`` of the source.
        members: the tables ``released_items`` of both releases.
        other: the earlier one.
        k: of the promise; the larger one where they differ.
        persons: how many the releases have in common.
    """
    transactions, items = data
    tables: dict[str, Table] = {"items": items, "first_members": members[0], "second_members": members[1]}
    joints = engine.create("overlap_joints", "release/overlap_joints", tables)
    held = engine.create("overlap_held", "release/overlap_held", {"transactions": transactions, "joints": joints})
    one = engine.query("release/overlap_singles", {"held": held}, k=k)
    two = engine.query("release/overlap_pairs", {"transactions": transactions, "joints": joints, "held": held}, k=k)
    engine.drop(held, joints)
    smallest = [plain(found["smallest"][0]) for found in (one, two)]
    below = sum(int(found["below_k"][0]) for found in (one, two))
    return Intersection(other.name, persons, smallest[0], smallest[1], below)
