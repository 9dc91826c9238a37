"""The attributes of a release beside those of its source: histograms, released ranges, loss, and groups of equal values."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from anondb.data.records import DAY, Attribute, Records
from anondb.engine import DuckDBEngine, Table, reads
from anondb.pages.plots import of_categories, of_ranges
from anondb.release.objects import StoredRelease
from anondb.risk.attack import shown_values

BINS = 20  # at most, of the histogram of a number or a date


@dataclass(frozen=True)
class Bin:
    """A bin of a histogram, or a category: its name, and its persons in the source and in the release."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Seen:
    """An attribute before and after."""

    name: str
    # the mean share of its values that a released range or set spans; a range with NULL spans all, as in the NCP
    loss: float
    bins: tuple[Bin, ...]  # its histogram. Persons of a released range or set are spread evenly over it.
    # the released ranges as places in the histogram (from, to, and persons), the most frequent first; empty for
    # categories
    ranges: tuple[tuple[float, float, int], ...] = ()

    def drawn(self, width: int) -> str:
        """The histogram as a drawing of this width."""
        title, bins = f"{self.name} before and after", [(b.name, b.before, b.after) for b in self.bins]
        return of_ranges(title, bins, self.ranges, width) if self.ranges else of_categories(title, bins, width)


@dataclass(frozen=True)
class Groups:
    """The groups of persons with equal released attributes: their number, and the sizes."""

    groups: int
    smallest: int
    middle: float
    largest: int


def read_attributes(engine: DuckDBEngine, release: StoredRelease, records: Records) -> tuple[tuple[Seen, ...], Groups]:
    """The attributes of a release, and its groups."""
    shown = engine.create("shown", shown_values(release.schema, release.kind.attributes or ()))
    seen = []
    for i, attribute in enumerate(records.attributes):
        read = _ranges if attribute.is_range else _categories
        seen.append(read(engine, release, attribute, shown, i))
    figures = "count(*) AS groups, min(n) AS smallest, CAST(median(n) AS DOUBLE) AS middle, max(n) AS largest"
    sizes = engine.select(reads.rows(reads.counted(shown, "class"), figures))
    engine.drop(shown)
    return tuple(seen), Groups(**{name: column.tolist()[0] for name, column in sizes.items()})


def _ranges(engine: DuckDBEngine, release: StoredRelease, attribute: Attribute, shown: Table, i: int) -> Seen:
    """A number or a date; NULL is left out."""
    values = [float(code * attribute.unit) for code in attribute.codes[~attribute.null].tolist()]
    ends = reads.rows(shown, f"low{i} AS low, high{i} AS high, null{i} AS missing")
    released = engine.query("report/released_ranges", {"shown": ends})
    rows = list(zip(*(released[name].tolist() for name in ("low", "high", "persons", "mixed")), strict=True))
    if not rows or not values:
        return Seen(attribute.name, 0.0, ())
    first, last = min(*values, *released["low"].tolist()), max(*values, *released["high"].tolist())
    # bins have equally many whole numbers or days
    unit = {"BIGINT": 1.0, "DATE": float(DAY)}.get(attribute.sql_type, 0.0)
    width = math.ceil((last - first + unit) / unit / BINS) * unit if unit else (last - first) / BINS or 1.0
    n = math.ceil((last - first + unit) / width) if unit else BINS
    ranges = {name: ("DOUBLE", released[name].tolist()) for name in ("low", "persons")}
    ranges["high"] = ("DOUBLE", (released["high"] + unit).tolist())
    tables = {"original": engine.put("original", {"value": ("DOUBLE", values)}), "ranges": engine.put("ranges", ranges)}
    drawn = engine.query("report/range_histogram", tables, first=first, width=width, bins=n)
    engine.drop(*tables.values())
    bins = [
        Bin(
            " to ".join(dict.fromkeys(_named(attribute, min(first + j * width + at, last)) for at in (0, width - unit))),
            before,
            after,
        )
        for j, before, after in zip(*(drawn[name].tolist() for name in ("bin", "before", "after")), strict=True)
    ]
    spans = (((high - low) / (last - first or 1.0), persons, mixed) for low, high, persons, mixed in rows)
    loss = sum(span * (persons - mixed) + mixed for span, persons, mixed in spans) / len(attribute.codes)
    places = tuple(((low - first) / width, (high + unit - first) / width, int(persons)) for low, high, persons, _ in rows)
    return Seen(attribute.name, loss, tuple(bins), places)


def _categories(engine: DuckDBEngine, release: StoredRelease, attribute: Attribute, shown: Table, i: int) -> Seen:
    """A category; NULL is one of its values."""
    values = [attribute.values[code] for code in attribute.codes.tolist()]
    original = engine.put("original", {"value": ("VARCHAR", values)})
    tables: dict[str, Any] = {"original": original, "released_values": release.schema.table("released_values")}
    tables["shown"] = reads.rows(shown, f"label{i} AS label")
    histogram = engine.query("report/category_histogram", tables, attribute=attribute.name)
    engine.drop(original)
    listed = list(zip(*(histogram[name].tolist() for name in ("value", "before", "after")), strict=True))
    loss = sum(histogram["spanned"].tolist()) / (len(values) * len(listed) or 1)
    return Seen(attribute.name, loss, tuple(Bin(*row) for row in listed))


def _named(attribute: Attribute, value: float) -> str:
    """A value of a number or a date in words."""
    if attribute.kind != "date":
        return f"{value:,.6g}" if abs(value) >= 10_000 else f"{value:.6g}"
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)).strftime("%Y-%m-%d")
