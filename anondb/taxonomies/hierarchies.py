"""Hierarchies of attributes, for owners: build one from the values of records, check some against them, and count persons.
What ``taxonomies.build`` and ``taxonomies.check`` do for the items of persons is done here for the values of an
attribute."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import count, pairwise
from typing import Any

import numpy as np

from anondb.data.attributes import check_names, check_type, hierarchy_sources
from anondb.data.sources import Source, open_source, reading_as
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.data.transactions import id_of, text_of
from anondb.engine import Engine, reads
from anondb.engine.arrays import Ints
from anondb.errors import InputError
from anondb.taxonomies import FAN_OUT, HIERARCHIES, build
from anondb.taxonomies.check import Checked, checked

BANDS = 32  # at most so many of the finest bands that are proposed
MAX_DIGITS = 18  # of a number: exact in every step
POSTCODES = re.compile(r"zip|postcode|postal|^plz|_plz", re.I)
_DATE = re.compile(  # also 20.01.1959, 1/20/1959, 20-Jan-1959 and January 20, 1959, with or without a time
    r"(\d{4}|\d\d?|[a-z]{3,9})([-./ ])(\d\d?|[a-z]{3,9})(?:\2|, )(\d{4}|\d\d?)([t ]+\d\d?:\d\d.*)?", re.A | re.I
)
_ORDERS = ("ymd", "dmy", "mdy")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


@dataclass(frozen=True, eq=False)
class Values:
    """The values of an attribute."""

    attribute: str  # the name of its column
    labels: tuple[str, ...]  # the values as texts, in code-point order
    persons: Ints  # how many persons have each
    missing: int = 0  # how many have none


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A built hierarchy: of which attribute, by which request, and how many values lie in no group."""

    attribute: str
    tree: Taxonomy
    request: build.Request
    alone: int


@dataclass(frozen=True)
class Fit:
    """Whether a hierarchy fits an attribute."""

    attribute: str  # the name that the hierarchy is given for, in lower case
    column: str | None  # the column of that name; None if the records have none
    nearest: str | None  # then the name of the nearest column, or None
    checked: Checked  # the check of its tree, with a column also against its values

    @property
    def fits(self) -> bool:
        """Whether the attribute exists, and the hierarchy is a tree with all values as leaves."""
        return self.column is not None and self.checked.fits

    def to_json(self) -> dict[str, Any]:
        """The check as JSON values."""
        named = {"attribute": self.attribute, "column": self.column, "nearest": self.nearest}
        return {**self.checked.to_json(), **named, "fits": self.fits}


def build_hierarchy(engine: Engine, records: Any, attribute: str, request: build.Request) -> Hierarchy:
    """Build a hierarchy with the values of an attribute as its leaves, for ``hierarchies`` of ``load_records``, outside a
    transaction; what the request leaves open is taken from the values (``completed``). Raises InputError: a source cannot be
    read; ``direct_identifier``; ``bad_parameter``; ``bad_number`` or ``bad_date``: values are no numbers, or no dates."""
    beside = reading_as(engine, records)
    with beside, engine.transaction(), open_source(engine, records, "records") as source:
        values = read_values(engine, source, source.id, attribute)
        check_names([values.attribute], source.id, "")
        request = completed(request, values)
        build.check_request(request, HIERARCHIES)
        mapping: tuple[build.Builder, build.Name] = (partial(_by_mapping, engine), build.named_by_key)
        builder, name = {**_BUILDERS, "mapping": mapping}[request.by]
        paths = builder(values.labels, values.persons, request)
    tree = build.tree_of(values.labels, paths, name, request.root)
    return Hierarchy(values.attribute, tree, request, sum(not path for path in paths))


def check_hierarchies(engine: Engine, hierarchies: Any, records: Any) -> list[Fit]:
    """Check all hierarchies of a source (of ``load_records``) against the records that they are for, outside a
    transaction."""
    beside = reading_as(engine, records)
    with beside, engine.transaction(), open_source(engine, records, "records") as source:
        return fits(engine, hierarchies, source, source.id)


def fits(engine: Engine, hierarchies: Any, source: Source, id_column: str) -> list[Fit]:
    """``check_hierarchies`` inside a transaction, for open records."""
    columns = {column.lower(): column for column in source.columns if column.lower() != id_column.lower()}
    checks = []
    for name, edges in hierarchy_sources(engine, hierarchies).items():
        column = columns.get(name)
        near = None if column else next(iter(difflib.get_close_matches(name, columns, n=1)), None)
        labels = None if column is None else read_values(engine, source, id_column, column).labels
        checks.append(Fit(name, column, near and columns[near], checked(engine, edges, labels)))
    if not checks:
        raise InputError("There are no hierarchies.", code="empty_source", hint="Name a folder with NAME.tree files.")
    return checks


def supported_hierarchy(engine: Engine, hierarchies: Any, records: Any, attribute: str) -> tuple[Taxonomy, Ints]:
    """The hierarchy of an attribute, and the number of persons with a value at or below each node. Raises InputError: a
    source cannot be read; ``unknown_hierarchy``: it has none of the attribute; ``unknown_value``: values are not in it."""
    beside = reading_as(engine, records)
    with beside, engine.transaction(), open_source(engine, records, "records") as source:
        named = hierarchy_sources(engine, hierarchies)
        if attribute.lower() not in named:
            raise InputError(
                f"There is no hierarchy of {attribute!r}.", code="unknown_hierarchy", hint=f"There are: {', '.join(named)}."
            )
        tree = load_taxonomy(engine, named[attribute.lower()])
        values = read_values(engine, source, source.id, attribute)
    if unknown := sum(label not in tree.node_of for label in values.labels):
        hint = "To list them: anondb hierarchy check."
        raise InputError(f"{unknown} values of {attribute!r} are not in its hierarchy.", code="unknown_value", hint=hint)
    own = np.zeros(tree.size + 1, dtype=np.int64)
    own[[tree.node_of[label] + 1 for label in values.labels]] = values.persons
    before = own.cumsum()
    return tree, before[tree.last + 1] - before[:-1]


def read_values(engine: Engine, source: Source, id_column: str, attribute: str) -> Values:
    """The values of an attribute, with their persons, inside a transaction. Raises InputError: ``no_such_column``,
    ``bad_type``."""
    person, column = source.column(id_column, "--id"), source.column(attribute, "--attribute")
    check_type(source, column)
    wanted = f"{id_of(person, source.columns[person])} AS id, {text_of(column, source.columns[column])} AS value"
    rows = engine.query("taxonomies/values", {"source": reads.rows(source.query, wanted)})
    labels, persons = rows["value"].tolist(), rows["persons"].astype(np.int64)
    if None not in labels:
        return Values(column, tuple(labels), persons)
    return Values(column, tuple(labels[1:]), persons[1:], int(persons[0]))


# --- what the values suggest -------------------------------------------------------------------------------------------


def completed(request: build.Request, values: Values) -> build.Request:
    """The request, with what it leaves open taken from the name and the values of the attribute."""
    by = request.by or ("mapping" if request.mapping is not None else _suggested(values))
    if by == "bands" and not request.steps:
        return replace(request, by=by, steps=tuple(f"{step:f}" for step in _doubled(_numbers(values.labels))))
    if by == "code" and not request.lengths:
        return replace(request, by=by, lengths=build.all_lengths(values.labels))
    return replace(request, by=by)


def in_order(values: Values) -> dict[str, build.Path]:
    """Values that are numbers, or dates, in their order, each with the bands or periods in which it lies, the widest first,
    and itself; nothing if some are neither, or dates may be read in two ways."""
    numbers = {label: number for label in values.labels if (number := _number(label)) is not None}
    if len(numbers) == len(values.labels):
        steps = tuple(f"{step:f}" for step in _doubled(list(numbers.values())))
        paths = _by_bands(values.labels, values.persons, build.Request(steps=steps))
    else:
        try:
            paths = _by_dates(values.labels, values.persons, build.Request())
        except InputError:
            return {}
    path_of = dict(zip(values.labels, paths, strict=True))
    order: Mapping[str, Any] = path_of if len(numbers) < len(path_of) else numbers
    return {label: (*path_of[label], label) for label in sorted(path_of, key=order.__getitem__)}


def _suggested(values: Values) -> str:
    """The builder for the values of an attribute."""
    labels = values.labels
    if POSTCODES.search(values.attribute):
        return "code"
    if len(labels) > FAN_OUT and all(_number(label) is not None for label in labels):
        return "bands"
    if labels and 2 * sum(_is_like_a_date(label) for label in labels) >= len(labels):
        return "dates" if all(map(_is_like_a_date, labels)) else "frequency"
    if any(2 * sum(s in label.strip(s) for label in labels) >= max(len(labels), 1) for s in "/>:|"):
        return "prefix"
    if labels and all(re.fullmatch(r"[A-Z]?\d[\w.]+", label, re.A) for label in labels):
        return "code"
    return "frequency"


def _doubled(numbers: Sequence[Decimal]) -> list[Decimal]:
    """Widths of bands, each twice the one before: from at most ``BANDS`` bands, of a round width, up to two."""
    if not numbers:
        return [Decimal(10)]
    low, high = min(numbers), max(numbers)
    unit = Decimal(1).scaleb(min(0, *(int(n.normalize().as_tuple().exponent) for n in numbers)))
    rounds = (unit * Decimal(digit).scaleb(tens) for tens in count() for digit in (2, 5, 10))
    steps = [next(width for width in rounds if (high - low) / width <= BANDS)]
    while high // (2 * steps[-1]) - low // (2 * steps[-1]) >= 1 and len(steps) < BANDS:
        steps.append(2 * steps[-1])
    return steps


# --- builders ----------------------------------------------------------------------------------------------------------


def _number(text: str) -> Decimal | None:
    """A text as an exact number; None if it is none."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    fits = value.is_finite() and len(value.as_tuple().digits) <= MAX_DIGITS and abs(value.adjusted()) <= MAX_DIGITS
    return value + 0 if fits else None  # -0 is 0


def _numbers(labels: Sequence[str]) -> list[Decimal]:
    """The values as exact numbers."""
    numbers = [n for label in labels if (n := _number(label)) is not None]
    if len(numbers) < len(labels):
        raise InputError(
            f"{len(labels) - len(numbers)} values cannot be read as numbers of at most {MAX_DIGITS} digits.",
            code="bad_number",
            hint="Build by code, prefix or mapping.",
        )
    return numbers


def _by_bands(labels: Sequence[str], weights: Ints, request: build.Request) -> list[build.Path]:
    """Numbers: bands of equal widths, each within a band of the next width."""
    numbers = _numbers(labels)
    steps = sorted(_number(step) or Decimal(0) for step in request.steps)
    if not steps or steps[0] <= 0 or any(wider % width for width, wider in pairwise(steps)):
        raise InputError(
            "Steps are widths above 0, each a multiple of the one before.",
            code="bad_parameter",
            hint="Such as --steps 5,10,20.",
        )
    whole = all(n == n.to_integral_value() for n in (*numbers, *steps))

    def band(number: Decimal, width: Decimal) -> str:
        low = (number / width).to_integral_value("ROUND_FLOOR") * width
        return f"{low:f} to {low + width - 1:f}" if whole else f"{low:f} to under {low + width:f}"

    return [tuple(band(number, width) for width in reversed(steps)) for number in numbers]


def _by_dates(labels: Sequence[str], weights: Ints, request: build.Request) -> list[build.Path]:
    """Dates and times: decades, years, quarters, months and, for times, days. The order of day, month and year is the only
    one in which all values are dates."""
    read = [[_date(label, order) for label in labels] for order in _ORDERS]
    wrong = [sum(path is None for path in paths) for paths in read]
    possible = [[path for path in paths if path] for paths, n in zip(read, wrong, strict=True) if not n]
    if possible and all(paths == possible[0] for paths in possible):
        return possible[0]
    raise InputError(
        "The day or the month of all values may be the first."
        if possible
        else f"{min(wrong)} values cannot be read as dates such as 2001-02-03 with a year of four digits.",
        code="bad_date",
        hint="Write them as 2001-02-03, in the file or in a view. If they are no dates, build by code, prefix or frequency.",
    )


def _date(text: str, order: str, short: bool = False) -> build.Path | None:
    """The groups of a date or a time whose year, month and day stand in an order such as ``dmy``; None if it is none.
    ``short`` takes a year of two digits for one, too."""
    if (match := _DATE.fullmatch(text)) is None:
        return None
    parts = dict(zip(order, match.group(1, 3, 4), strict=True))
    named = [n for n, month in enumerate(_MONTHS, 1) if month.startswith(parts["m"].lower())]
    try:
        d = date(int(parts["y"]), named[0] if named else int(parts["m"]), int(parts["d"]))
    except ValueError:
        return None
    if len(parts["y"]) != 4 and not (short and len(parts["y"]) == 2):
        return None
    months = f"{d.year // 10}0s", f"{d.year}", f"{d.year} Q{(d.month + 2) // 3}", f"{d:%Y-%m}"
    return months if match[5] is None else (*months, d.isoformat())


def _is_like_a_date(text: str) -> bool:
    return any(_date(text, order, short=True) for order in _ORDERS)


def _by_mapping(engine: Engine, labels: Sequence[str], weights: Ints, request: build.Request) -> list[build.Path]:
    """Groups that the owner has: the nodes above each value in a taxonomy; a value that it lacks is in none."""
    tree = load_taxonomy(engine, request.mapping)
    paths: list[build.Path] = []
    for label in labels:
        node, above = tree.node_of.get(label, 0), list[str]()
        while node > 0:
            if tree.labels[node] != label or not tree.is_leaf[node]:
                above.append(tree.labels[node])
            node = int(tree.parent[node])
        paths.append(tuple(reversed(above)))
    return paths


_BUILDERS: Mapping[str, tuple[build.Builder, build.Name]] = {
    **build.BY_LABELS,
    "bands": (_by_bands, build.named_by_key),
    "dates": (_by_dates, build.named_by_key),
}
