"""The parts of partitioned views in the ledger: a release for each value of a column."""

from collections.abc import Sequence
from dataclasses import dataclass

from anondb.data.sources import Partition
from anondb.engine import Engine, tuples
from anondb.ledger.tables import PARTITIONS, RELEASES, VIEWS
from anondb.release.objects import same_name


@dataclass(frozen=True)
class Part:
    """A present release of a partitioned view."""

    view: str  # the name of the view
    # release, release_id: its name and number
    release: str
    release_id: str
    partition: Partition  # its value
    digest: str  # what its rows were when it was made (``Value.digest``)
    transactions: int  # their number


@dataclass(frozen=True)
class Value:
    """A value of the column as the rows of the view have it now."""

    partition: Partition  # the value
    digest: str  # the version of DuckDB, the number of rows, and the sum of their hashes, each between colons

    def same_rows(self, digest: str) -> bool:
        """Whether the rows are those of an earlier digest. Hashes of another version of DuckDB cannot be compared, so
        their numbers alone are."""
        now, then = self.digest.split(":"), digest.split(":")
        return now[1:2] == then[1:2] and (now[0] != then[0] or now == then)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return rows_of(self.digest)


def rows_of(digest: str) -> int:
    """The number of rows that a digest says."""
    return int(digest.split(":")[1])


def parts_of(engine: Engine, catalog: str, view: str) -> list[Part]:
    """The parts of a view, oldest first; none if it is not partitioned, or does not exist."""
    if not PARTITIONS.present(engine, catalog):
        return []
    rows = engine.query("views/parts", {t.name: t.at(catalog) for t in (PARTITIONS, VIEWS, RELEASES)})
    return [
        Part(name, release, number, Partition(column, value, kind), digest, int(transactions))
        for name, release, number, column, value, kind, digest, transactions in tuples(rows)
        if same_name(name, view)
    ]


def record(engine: Engine, catalog: str, release_id: str, value: Value) -> None:
    """Note which part a release is, and what its rows were; call it after ``ledger.record_view``."""
    part = value.partition
    row = {"release_id": release_id, "column_name": part.column, "value": part.value, "kind": part.kind}
    PARTITIONS.append(engine, catalog, [row | {"digest": value.digest}])


def accept(engine: Engine, catalog: str, late: Sequence[tuple[Part, Value]]) -> None:
    """Take the rows that parts have now for those that they were made of."""
    for part, value in late:
        PARTITIONS.change(engine, catalog, part.release_id, digest=value.digest)
