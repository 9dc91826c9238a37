"""What attackers find who know attributes of people, with and without some items; roles and hierarchies of attributes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anondb.data.attributes import can_be_attribute, check_names, check_type
from anondb.data.constraints import load_sensitive
from anondb.data.records import classes_of, parse_quasi_identifiers, snapshot
from anondb.data.sources import Source, reading
from anondb.data.transactions import Dataset, id_of
from anondb.engine import Engine, Table, reads
from anondb.engine.texts import listed, quoted
from anondb.guide.knowledge import MAX_ROWS, add_alone, alone_by_one, join_rows, row_count
from anondb.taxonomies.build import Request
from anondb.taxonomies.hierarchies import completed, fits, read_values

KNOWN_ITEMS = 2  # the most items that are known beside the quasi-identifiers
FEW = 100  # values that somebody may well know of a person
IDENTIFIER, QUASI, SENSITIVE, OTHER = "identifier", "quasi-identifier", "sensitive", "other"
_NAMES: Mapping[str, re.Pattern[str]] = {
    role: re.compile(rf"(^|[^a-z])({words})([^a-z]|$)", re.I)
    for role, words in {
        IDENTIFIER: "name|surname|e-?mail|phone|mobile|fax|ssn|mrn|passport|iban|account|id|uuid|address|street|ip",
        SENSITIVE: "diagnos[ie]s|disease|illness|hiv|drug|medication|religion|salary|income|wage|debt|result",
        QUASI: "age|birth ?(date|day|month|year)?|born|dob[my]*|sexe?|gender|zip|post ?code|plz|city|town|county|region"
        "|state|country|race[a-z]?|ethnic(ity)?|nationality|marital|marry|married|educ[a-z]*|occupation|job|profession|household"
        "|admi(tted|ssion)|discharged?|store|language",
    }.items()
}


@dataclass(frozen=True)
class Column:
    """A column of the records.

    Attributes:
        name, type: its name and SQL type.
        values: the number of its values; None if it was not read.
        role, why: the role that is proposed, and the reason.
        alone: of a quasi-identifier: the persons whose value nobody else has.
        without: of a quasi-identifier: the persons alone for somebody who knows all others.
        hierarchy: of a quasi-identifier: whether its hierarchy fits or, without one, how ``hierarchy build`` would build it.
    """

    name: str
    type: str
    values: int | None
    role: str
    why: str
    alone: int | None = None
    without: int | None = None
    hierarchy: str | None = None


@dataclass(frozen=True)
class People:
    """What is known of the records of persons before a release.

    Attributes:
        quasi_identifiers: those that attackers are assumed to know.
        proposed: whether they are the proposed ones, since the owner named none.
        hidden: the number of sensitive items, which attackers are assumed not to know.
        alone: the persons alone for somebody who knows the quasi-identifiers, and 0, 1 and 2 items; None if not counted.
            Where nobody has items, that for 0 alone.
        classes: the number of different combinations of values of the quasi-identifiers; 0 without any.
        columns: the quasi-identifiers, those that contribute most first, and the other columns.
    """

    quasi_identifiers: tuple[str, ...]
    proposed: bool
    hidden: int
    alone: tuple[int | None, ...]
    classes: int
    columns: tuple[Column, ...]


def people(
    engine: Engine,
    source: Source,
    dataset: Dataset,
    *,
    quasi_identifiers: Any = None,
    hierarchies: Any = None,
    sensitive: Any = None,
) -> People:
    """Count what attackers find in records, inside a transaction; the transactions are loaded with ``more_ids`` from these.
    The columns are those that are proposed unless some are named; for hierarchies and sensitive items see ``load_records``
    and ``load_sensitive``. Raises InputError: as ``load_records``, but for identifiers."""
    named = None if quasi_identifiers is None else parse_quasi_identifiers(quasi_identifiers)
    wanted = [] if named is None else [source.column(name, "--quasi-identifiers") for name, _ in named]
    check_names(wanted, dataset.id_column, dataset.item_column)
    for name in wanted:
        check_type(source, name)
    apart = {dataset.id_column.lower(), dataset.item_column.lower()}
    several = source.has(dataset.item_column)  # then other columns may be of rows
    readable = [c for c, kind in source.columns.items() if c.lower() not in apart and can_be_attribute(kind)]
    names = (wanted or _constant(engine, source, dataset, readable)) if several else readable
    rows = snapshot(engine, source, source.column(dataset.id_column, "--id"), names, dataset)
    counts = _counts(engine, rows, len(names))
    persons = dataset.n_transactions
    roles = {n: role_of(n, source.columns[n], persons, *counts[i]) for i, n in enumerate(names)}
    quasi = wanted or [name for name in names if roles[name][0] == QUASI]
    places = [f"c{names.index(name)}" for name in quasi]
    alone_by = {
        n: (_alone(engine, rows, [c]), _alone(engine, rows, [x for x in places if x != c]))
        for n, c in zip(quasi, places, strict=True)
    }
    hidden = set(() if sensitive is None else load_sensitive(engine, sensitive))
    in_classes = classes_of(engine, rows, places)
    classes = int(engine.scalar(reads.rows(in_classes, "coalesce(max(class), 0) AS n"))) if places else 0
    alone = _with_items(engine, dataset, in_classes, hidden)
    fitting = {} if hierarchies is None else {f.column: f for f in fits(engine, hierarchies, source, dataset.id_column)}

    def hierarchy(name: str) -> str:
        if name in fitting:
            return "fits" if fitting[name].fits else "does not fit (anondb hierarchy check)"
        request = completed(Request(), read_values(engine, source, dataset.id_column, name))
        return f"by {request.by}{' ' * bool(request.steps)}{','.join(request.steps)}"

    columns = [
        Column(n, source.columns[n], counts[i][1], *roles[n], *((*alone_by[n], hierarchy(n)) if n in quasi else ()))
        for i, n in enumerate(names)
    ]
    columns.sort(key=lambda c: (c.name not in quasi, c.without or 0, -(c.alone or 0)))
    unread = [c for c in source.columns if c.lower() not in apart and c not in names]
    varies = set() if wanted else set(unread) & set(readable)
    why = {c: "it varies in the rows of a person" if c in varies else "it was not read" for c in unread}
    columns += [Column(c, source.columns[c], None, OTHER, why[c]) for c in unread]
    engine.drop(rows)
    return People(tuple(quasi), not wanted, len(hidden & set(dataset.labels)), alone, classes, tuple(columns))


def _constant(engine: Engine, source: Source, dataset: Dataset, names: Sequence[str]) -> list[str]:
    """The columns that have one value in all rows of a person."""
    id_column = source.column(dataset.id_column, "--id")
    key = id_of(id_column, source.columns[id_column])
    value = "count(DISTINCT {0}) + max(CAST({0} IS NULL AS INTEGER)) AS n{1}"
    values = [value.format(quoted(name), i) for i, name in enumerate(names)]
    most = listed(("count(*) AS persons", *(f"max(n{i}) AS n{i}" for i in range(len(names)))))
    with reading(source.name):
        row = engine.select(reads.rows(reads.rows(source.query, listed((f"{key} AS id", *values)), group=key), most))
    return [name for i, name in enumerate(names) if row[f"n{i}"][0] == 1]


def role_of(name: str, kind: str, persons: int, present: int, values: int) -> tuple[str, str]:
    """The role that is proposed for a column, and why, from its name and SQL type, the number of persons, how many of them
    have a value, and how many different values there are."""
    if values <= 1:
        return OTHER, "it has one value" if values else "it has no value"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[_\W]+", " ", name)
    for role, pattern in _NAMES.items():
        if pattern.search(words) and (role != IDENTIFIER or 2 * values > present):
            return role, "by its name"
    if kind.startswith(("DATE", "TIMESTAMP")):
        return QUASI, "dates are often known"
    if kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL"):
        return OTHER, "a measured number"
    if 20 * values >= 19 * present and persons > 1:
        return IDENTIFIER, "it tells persons apart"
    return (QUASI, "few values") if values <= FEW else (OTHER, "many values")


def _counts(engine: Engine, rows: Table, n: int) -> list[tuple[int, int]]:
    """How many persons have a value in each column, and how many different values it has."""
    if not n:
        return []
    counts = ", ".join(f"count(c{i}) AS p{i}, count(DISTINCT c{i}) AS d{i}" for i in range(n))
    row = engine.select(reads.rows(rows, counts), "counting values")
    return [(int(row[f"p{i}"][0]), int(row[f"d{i}"][0])) for i in range(n)]


def _alone(engine: Engine, rows: Table, columns: Sequence[str]) -> int:
    """The persons whose values in these columns nobody else has; NULL equals NULL."""
    alone = reads.rows(rows, "count(*) AS n", group=", ".join(columns), having="count(*) = 1")
    return int(engine.scalar(reads.counted(alone)))


def _with_items(engine: Engine, dataset: Dataset, classes: Table, hidden: set[str]) -> tuple[int | None, ...]:
    """The persons alone for somebody who knows their class, and no item, one, or two that are not hidden."""
    codes = [code for code, label in enumerate(dataset.labels) if label in hidden]
    unknown = engine.put("guide_hidden", {"item": ("INTEGER", np.asarray(codes, dtype=np.int32))})
    tables = {"transactions": dataset.transactions, "classes": classes, "hidden": unknown}
    in_classes = engine.create("guide_in_classes", "guide/items_in_classes", tables)
    as_items = reads.rows(classes, "tid, class AS item")
    alone = engine.create("guide_alone_in_classes", alone_by_one(as_items))
    counts: list[int | None] = [row_count(engine, alone)]
    for m in range(1, (KNOWN_ITEMS if dataset.n_items else 0) + 1):
        if join_rows(engine, in_classes)[m] > MAX_ROWS:
            counts.append(None)
            continue
        add_alone(engine, in_classes, alone, m)
        counts.append(row_count(engine, alone))
    engine.drop(in_classes, alone, unknown, classes)
    return tuple(counts)
