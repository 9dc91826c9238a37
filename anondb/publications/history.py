"""The part of the ledger that publishing writes: sealed files, and comparisons with earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from anondb.engine import Engine, Rows, Table, reads
from anondb.ledger.ledger import now, system_user
from anondb.ledger.tables import OVERLAPS, PUBLICATIONS, plain
from anondb.release.publish import SealedFile


@dataclass(frozen=True)
class Publication:
    """One sealed file.

    Attributes:
        name, release_id: the release.
        file: the name of the file, without its directory.
        transactions, rows: their numbers.
        sha256, content_digest: the digests that identify it (``anondb.release.digest``).
        allowed_overlap: whether the owner allowed an overlap with earlier publications.
        smallest_candidates: the fewest candidates that both releases leave, if they overlap and this could be measured.
        published, user_name: the time (UTC, without a time zone), and the user.
    """

    name: str
    release_id: str
    file: str
    transactions: int
    rows: int
    sha256: str
    content_digest: str
    allowed_overlap: bool = False
    smallest_candidates: int | None = None
    published: datetime = field(default_factory=now)
    user_name: str = field(default_factory=system_user)


@dataclass(frozen=True)
class Difference:
    """The multiset difference of two published releases: the rows in only one of them.

    Attributes:
        unit: the kind of rows: ``transactions``, ``buckets`` or ``column values``.
        only_here, only_there: the numbers of rows in the new release only, and in the earlier one only.
        alone: the number of these rows without an equal in the difference.
        below_k: the number of these rows in a group of fewer than k equals.
        k: the larger k of the two promises; l for anatomies.
        cells: if both releases were first generalized to common sets of items (``published_rows.compare``), the number of
            these sets; None if published rows were compared unchanged. A difference over few cells says little.
    """

    unit: str
    only_here: int
    only_there: int
    alone: int
    below_k: int
    k: int
    cells: int | None = None

    @property
    def size(self) -> int:
        """The number of rows in only one of the releases."""
        return self.only_here + self.only_there

    @property
    def words(self) -> str:
        """What an owner reads after a colon."""
        how = ""
        if self.cells is not None:
            where = (
                "without their buckets" if self.unit == "column values" else "as far as the items of both can be compared"
            )
            how = f" ({where}: {self.cells:,} set{'s' * (self.cells != 1)} of items)"
        if not self.size:
            return f"no {self.unit.removesuffix('s')}{how} is in one of the two only."
        units = f"{self.unit}{how} are" if self.size > 1 else f"{self.unit.removesuffix('s')}{how} is"
        return (
            f"{self.size:,} {units} in one of the two only: {self.alone:,} alone,"
            f" {self.below_k:,} in a group of fewer than {self.k:,}."
        )


@dataclass(frozen=True)
class Intersection:
    """What readers of two releases of the same persons learn by comparing them.

    Attributes:
        other, other_id: the name and the number of the earlier publication.
        persons: the maximum number of persons of the source in both.
        whole, common: the differences of the published rows, and of their common generalization; None if ``reason`` is set.
            ``whole`` is None, too, for global recodings of the same data.
        reason: why the releases could not be compared.
        smallest_of_one, smallest_of_two: the fewest persons of the source who match this release and all earlier ones that
            are global recodings together, for an attacker who knows one item, or two items of a person; None unless both are
            global recodings and the source still exists.
        below_k: the number of such items and pairs that fewer than k persons match.
        bounds_differ: the number of items of which both say other bounds; None unless one of them has item supports.
    """

    other: str
    persons: int
    other_id: str = ""
    whole: Difference | None = None
    common: Difference | None = None
    reason: str | None = None
    smallest_of_one: int | None = None
    smallest_of_two: int | None = None
    below_k: int | None = None
    bounds_differ: int | None = None

    @property
    def smallest(self) -> int | None:
        """The smallest candidate set."""
        sizes = [n for n in (self.smallest_of_one, self.smallest_of_two) if n is not None]
        return min(sizes) if sizes else None

    @property
    def difference(self) -> Difference | None:
        """The most informative comparison: the one with the fewest rows in only one release; None if nothing of both can be
        compared."""
        whole, common = self.whole, self.common
        if whole is not None and not whole.size:
            return whole
        if common is None or common.cells == 0:
            return None
        tells_more = whole is None or common.unit != whole.unit or common.size < whole.size
        return common if tells_more else whole

    @property
    def risk(self) -> int:
        """What the comparison means for a person, as an index of ``_MEANING``; the worst is 0."""
        told = self.difference
        if self.smallest == 1 or (told is not None and told.alone):
            return 0
        if self.below_k or (told is not None and told.below_k):
            return 1
        alike = self.whole is not None and not self.whole.size  # the same rows say nothing more
        return 3 if told is not None and (alike or self.smallest is not None) and not self.bounds_differ else 2

    @property
    def words(self) -> str:
        """One line for the owner."""
        head = f"Compared with the published {self.other!r}"
        if self.difference is None:
            head += f": not measured, since {self.reason or 'no set of items is shown by both'}."
        else:
            head += f": {self.difference.words}"
        fewest = "1 person fits" if self.smallest == 1 else f"{self.smallest or 0:,} persons fit"
        fit = "" if self.smallest is None else f" At least {fewest} both by one or two known items"
        fit += f"; {self.below_k:,} such combinations fit fewer than k." if self.below_k else "." * bool(fit)
        if self.bounds_differ is not None:
            fit += f" The published bounds of {self.bounds_differ:,} item{'s' * (self.bounds_differ != 1)} differ."
        return f"{head}{fit}"

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {**asdict(self), "smallest": self.smallest}


@dataclass(frozen=True)
class PublishedFile(SealedFile):
    """A sealed file whose publication is in the ledger.

    Attributes:
        intersections: what readers can combine from it and each earlier publication of the same persons.
        proof: the directory of its proof pack, if one was requested.
    """

    intersections: tuple[Intersection, ...] = ()
    proof: Path | None = None


_MEANING = (  # by ``Intersection.risk``
    "Whoever has this release and an earlier one can single out persons.",
    "Whoever has this release and an earlier one can narrow persons down to fewer than k.",
    "How far this release and an earlier one together single out persons is not known: take it that they do.",
    "Nobody was found whom this release and an earlier one together single out.",
)


def notes(intersections: Iterable[Intersection]) -> list[str]:
    """One line for the owner, on the worst comparison with an earlier publication; none without a comparison."""
    compared = list(intersections)
    if not compared:
        return []
    worst = min(compared, key=lambda i: (i.risk, i.smallest or 0, -(i.difference.alone if i.difference else 0)))
    line = f"{_MEANING[worst.risk]} {worst.words}"
    if len(compared) > 1:
        line += f" Of {len(compared):,} earlier publications of these persons, this one tells most"
        unknown = sum(i.risk == 2 for i in compared)
        line += f"; what {unknown:,} of them tell is not known." if unknown else "."
    return [line]


def publications(engine: Engine, catalog: str) -> list[Publication]:
    """All publications, oldest first."""
    return [Publication(**row) for row in PUBLICATIONS.rows(engine, catalog)]


def record_overlaps(engine: Engine, catalog: str, name: str, release_id: str, intersections: Iterable[Intersection]) -> None:
    """Store the comparisons of a release with earlier publications. Call it inside ``engine.transaction()``."""
    rows = []
    for intersection in intersections:
        told = intersection.difference
        row = dict.fromkeys(OVERLAPS.columns) | vars(intersection) | {"below_k": None}  # it counts combinations of items
        if told is not None:
            row |= vars(told) | {"compared": f"{told.unit}{'' if told.cells is None else ' in common'}"}
        row |= {"name": name, "release_id": release_id, "smallest_candidates": intersection.smallest, "measured": now()}
        rows.append(row)
    OVERLAPS.append(engine, catalog, rows)


def measure_candidates(
    engine: Engine, data: tuple[Table, Table], members: Sequence[Rows], k: int
) -> tuple[int | None, int | None, int]:
    """Count the candidates that several global recodings of one source leave together.

    An attacker who knows that a person has an item looks for its image in all releases. The candidates are the persons who
    have all its images; transaction numbers do not help, because each release has fresh ones.

    Args:
        data: work tables ``(tid, item)`` and ``(item, label)`` of the source.
        members: the tables ``released_items`` of the releases.
        k: the largest k of their promises.

    Returns:
        The figures ``smallest_of_one``, ``smallest_of_two`` and ``below_k`` of an ``Intersection``.
    """
    transactions, items = data
    each = [reads.rows(table, f"{n} AS release, released_item, item") for n, table in enumerate(members)]
    parts = engine.create("overlap_parts", "publications/overlap_parts", {"items": items, "members": reads.union(each)})
    joints = engine.create("overlap_joints", "publications/overlap_joints", {"parts": parts})
    tables = {"transactions": transactions, "parts": parts, "joints": joints}
    held = engine.create("overlap_held", "publications/overlap_held", tables)
    below = f"min(n) AS smallest, count(*) FILTER (WHERE n < {k}) AS below_k"
    of_one = engine.select(reads.rows(reads.counted(held, "joint"), below))
    of_two = engine.query("publications/overlap_pairs", {"transactions": transactions, "joints": joints, "held": held}, k=k)
    engine.drop(held, joints, parts)
    smallest = [plain(figures["smallest"][0]) for figures in (of_one, of_two)]
    return smallest[0], smallest[1], sum(int(figures["below_k"][0]) for figures in (of_one, of_two))
