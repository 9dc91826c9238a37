"""The attributes of a release beside those of its source: histograms, released ranges, loss, and groups of equal values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlglot import exp

from anondb.data.records import Attribute
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, Table
from anondb.ledger.ledger import LedgerEntry
from anondb.ledger.stored import records_of
from anondb.release.objects import StoredRelease
from anondb.risk.attack import records_as_released, shown_values

BINS = 20  # of the histogram of a number or a date


@dataclass(frozen=True)
class Bin:
    """A bin of a histogram, or a category: its name, and its persons in the source and in the release."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Seen:
    """An attribute before and after.

    Attributes:
        name: its name.
        loss: the mean share of its values that a released range or set spans; a range with NULL spans all, as in the NCP.
        bins: its histogram. Persons of a released range or set are spread evenly over it.
        ranges: the released ranges as places in the histogram (from, to, and persons), the most frequent first; empty for
            categories.
    """

    name: str
    loss: float
    bins: tuple[Bin, ...]
    ranges: tuple[tuple[float, float, int], ...] = ()


@dataclass(frozen=True)
class Groups:
    """The groups of persons with equal released attributes: their number, and the sizes."""

    groups: int
    smallest: int
    middle: float
    largest: int


def read_attributes(
    engine: DuckDBEngine, release: StoredRelease, dataset: Dataset, entry: LedgerEntry
) -> tuple[tuple[Seen, ...], Groups | None]:
    """The attributes of a release and its groups; nothing for a release without attributes.

    Args:
        engine: the owner's engine, inside a transaction.
        release: the release.
        dataset, entry: its current source, and its entry in the ledger.

    Raises:
        InputError: the records are gone.
    """
    attributes = release.kind.attributes or ()
    if not attributes:
        return (), None
    records = records_as_released(engine, records_of(engine, entry), dataset, attributes)
    shown = engine.create("shown", shown_values(release.schema, attributes))
    seen = []
    for i, attribute in enumerate(records.attributes):
        read = _ranges if attribute.is_range else _categories
        seen.append(read(engine, release, attribute, shown, i))
    sizes = {name: column.tolist()[0] for name, column in engine.query("report/group_sizes", {"shown": shown}).items()}
    engine.drop(shown)
    return tuple(seen), Groups(**sizes)


def _ranges(engine: DuckDBEngine, release: StoredRelease, attribute: Attribute, shown: Table, i: int) -> Seen:
    """A number or a date; NULL is left out."""
    values = [float(code * attribute.unit) for code in attribute.codes[~attribute.null].tolist()]
    columns = {"low": f"low{i}", "high": f"high{i}", "missing": f"null{i}"}
    found = engine.query("report/released_ranges", {"shown": _columns(shown, **columns)})
    rows = list(zip(*(found[name].tolist() for name in ("low", "high", "persons", "mixed")), strict=True))
    if not rows or not values:
        return Seen(attribute.name, 0.0, ())
    first, last = min(*values, *found["low"].tolist()), max(*values, *found["high"].tolist())
    width = (last - first) / BINS or 1.0
    ranges = {name: ("DOUBLE", found[name].tolist()) for name in ("low", "high", "persons")}
    tables = {"original": engine.put("original", {"value": ("DOUBLE", values)}), "ranges": engine.put("ranges", ranges)}
    drawn = engine.query("report/range_histogram", tables, first=first, width=width, bins=BINS)
    engine.drop(*tables.values())
    bins = [
        Bin(f"{_named(attribute, first + j * width)} to {_named(attribute, first + (j + 1) * width)}", before, after)
        for j, before, after in zip(*(drawn[name].tolist() for name in ("bin", "before", "after")), strict=True)
    ]
    spans = (((high - low) / (last - first or 1.0), persons, mixed) for low, high, persons, mixed in rows)
    loss = sum(span * (persons - mixed) + mixed for span, persons, mixed in spans) / len(attribute.codes)
    places = tuple(((low - first) / width, (high - first) / width, int(persons)) for low, high, persons, _ in rows)
    return Seen(attribute.name, loss, tuple(bins), places)


def _categories(engine: DuckDBEngine, release: StoredRelease, attribute: Attribute, shown: Table, i: int) -> Seen:
    """A category; NULL is one of its values."""
    values = [attribute.values[code] for code in attribute.codes.tolist()]
    original = engine.put("original", {"value": ("VARCHAR", values)})
    tables: dict[str, Any] = {"original": original, "released_values": release.schema.table("released_values")}
    tables["shown"] = _columns(shown, label=f"label{i}")
    found = engine.query("report/category_histogram", tables, attribute=attribute.name)
    engine.drop(original)
    listed = list(zip(*(found[name].tolist() for name in ("value", "before", "after")), strict=True))
    loss = sum(found["spanned"].tolist()) / (len(values) * len(listed) or 1)
    return Seen(attribute.name, loss, tuple(Bin(*row) for row in listed))


def _columns(shown: Table, **columns: str) -> exp.Query:
    """Columns of the released values under other names, a row for each person."""
    return exp.select(*(exp.column(column).as_(name) for name, column in columns.items())).from_(shown.expression())


def _named(attribute: Attribute, value: float) -> str:
    """A value of a number or a date in words."""
    if attribute.kind != "date":
        return f"{value:.6g}"
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)).strftime("%Y-%m-%d")
