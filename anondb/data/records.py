"""Relational records beside the transactions: one row for each id, its quasi-identifiers coded as exact integers."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.attributes import (
    Domain,
    attribute_domains,
    attribute_hierarchies,
    attribute_weights,
    check_names,
    check_type,
    domain_of_dates,
    domain_of_numbers,
)
from anondb.data.sources import Source, open_source, reading
from anondb.data.taxonomy import Taxonomy, of_type
from anondb.data.transactions import Dataset, enum_remark, id_of, text_of
from anondb.data.types import released_type
from anondb.engine import Engine, Table, reads
from anondb.engine.arrays import Flags, Ints
from anondb.engine.texts import listed
from anondb.errors import InputError
from anondb.reading.options import names_in

KINDS = ("numeric", "date", "categorical")
MAX_DIGITS = 18  # of a number, decimals included: BIGINT holds them
DAY = 86_400_000_000  # microseconds
# how a text looks that is a number with decimals, a date or a time, also one that is not read so
MEASURE = re.compile(
    r"\d[\d./-]*[ T]\d\d?:\d\d.*|\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{4}|[-+]?[\d.]*\d,\d+-?|[-+]?\d+\.\d\d"
)
_WITH_KIND = re.compile(rf"(.*?)(?:\s*:\s*({'|'.join(KINDS)}))?", re.S)
_PLAIN = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_PLAIN_ID = "regexp_replace(trim(CAST(id AS VARCHAR)), '^0*(.+?)([.]0+)?$', '\\1')"


@dataclass(frozen=True, eq=False, repr=False)
class Attribute:
    """One quasi-identifier."""

    name: str  # name of its column
    kind: str  # ``numeric``, ``date`` or ``categorical``
    # its value in each record, in the order of the transactions. Numeric: the value in ``unit``; date: microseconds
    # since 1970; categorical: an index of ``values``, which follow the leaf order of a hierarchy.
    codes: Ints
    # marks the records without a value; their code is 0, or the index of None if the attribute is categorical
    null: Flags
    weight: Fraction  # w of the attribute in the NCP
    length: int  # length of the domain (numeric, date), or number of its values (categorical), NULL included
    unit: Fraction = Fraction(1)  # the value of 1 in ``codes``: a power of ten for numbers, 1 (microsecond) for dates
    # the values of a categorical attribute by code, with leaves that never occur; None is NULL
    values: tuple[str | None, ...] = ()
    hierarchy: Taxonomy | None = None  # its tree, or None. NULL lies beside the root of the tree.
    sql_type: str = "VARCHAR"  # the type of the bounds of ranges in a release
    # the type of its column that the manifest names; of texts that are read as numbers or dates, ``sql_type``
    type: str = "VARCHAR"

    @property
    def is_range(self) -> bool:
        """Whether groups are generalized to ranges."""
        return self.kind != "categorical"

    @property
    def has_null(self) -> bool:
        """Whether any record has no value."""
        return bool(self.null.any())


RECORDS_TABLE = "records"  # the name of data that have none


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """The quasi-identifiers of the person of each transaction."""

    attributes: tuple[Attribute, ...]  # the quasi-identifiers, in the order in which the user names them
    n: int  # number of records
    warnings: tuple[str, ...] = ()  # remarks for the owner, such as how each attribute is read
    table: str = RECORDS_TABLE  # the name of their table, for analysts
    # the names of the hierarchies that the owner has, used or not; None without a source of them
    hierarchies: tuple[str, ...] | None = None

    def digest(self) -> str:
        """A digest of the values of each record; for the owner's ledger only."""
        digest = hashlib.sha256()
        for a in self.attributes:
            texts = [a.values[code] for code in a.codes.tolist()] if a.values else [str(a.unit)]
            digest.update(json.dumps([a.name, texts]).encode())
            digest.update(b"" if a.values else a.codes.tobytes() + a.null.tobytes())
        return digest.hexdigest()

    def fingerprint(self) -> str:
        """A digest of the records with their hierarchies and weights; for the owner's ledger only."""
        digest = hashlib.sha256()
        for a in self.attributes:
            tree = None if a.hierarchy is None else (a.hierarchy.labels, a.hierarchy.parent.tolist())
            facts = (a.name, a.kind, str(a.weight), a.length, str(a.unit), a.values, tree, a.sql_type)
            digest.update(json.dumps(facts).encode() + a.codes.tobytes() + a.null.tobytes())
        return digest.hexdigest()


def parse_quasi_identifiers(names: str | Sequence[str] | None) -> list[tuple[str, str | None]]:
    """Parse ``A,B:categorical`` (``names_in``) or a list of such texts into column names, each with its kind or None. Raises
    InputError: no column is named, or one is named twice."""
    if names is None:
        hint = "Name them with --quasi-identifiers A,B; all other columns are left out of the release."
        raise InputError("No columns of the records are named as quasi-identifiers.", code="no_quasi_identifiers", hint=hint)
    parts = [p for p in names_in(names) if p.strip()] if isinstance(names, str) else list(names)
    columns = [(match[1], match[2]) for part in parts if (match := _WITH_KIND.fullmatch(part.strip()))]
    lowered = [name.lower() for name, _ in columns]
    if len(set(lowered)) < len(lowered) or "" in lowered:
        raise InputError("The quasi-identifiers contain an empty name, or name a column twice.", code="bad_usage")
    return columns


def load_records(
    engine: Engine,
    records: Any,
    dataset: Dataset,
    *,
    quasi_identifiers: str | Sequence[str] | None,
    hierarchies: Any = None,
    weights: Any = None,
    domains: Any = None,
) -> Records:
    """Read the records of a dataset; both must have the same ids.

    A column of numbers is numeric, as is a text column whose values are all plain numbers. A column of dates or
    timestamps is a date, as is a text column whose values are all written like 2001-02-03 or 2001-02-03 12:30. All others,
    and those with a hierarchy, are categorical. ``NAME:numeric|date|categorical`` overrides this.

    Args:
        records: a source with the dataset's id column. One with its item column, too, is one of transactions, and must have
            the same values in all rows of an id.
        dataset: the transactions, loaded with ``more_ids`` from the same records to include persons without items.
        quasi_identifiers: the columns that are read (``parse_quasi_identifiers``).
        hierarchies: (attribute, node, parent[, ord]), a directory of ``NAME.tree`` path files, or a mapping of names to
            sources of ``load_taxonomy``.
        weights: w in the NCP: (attribute, weight) or a mapping; 1 / number of attributes by default.
        domains: of numbers and dates: (attribute, low, high) or a mapping; the range of the values by default.

    Raises InputError: missing columns; NULL or repeated ids; transactions without a record; NaN, infinite, negative-zero or
    too long numbers; values outside their hierarchy or domain; a direct identifier.
    """
    kinds = parse_quasi_identifiers(quasi_identifiers)
    with open_source(engine, records, "records") as source:
        id_column = source.column(dataset.id_column, "--id")
        columns = {source.column(name, "--quasi-identifiers"): kind for name, kind in kinds}
        check_names(list(columns), id_column, dataset.item_column)
        trees, named = attribute_hierarchies(engine, hierarchies, list(columns))
        shares = attribute_weights(engine, weights, columns)
        ranges = attribute_domains(engine, domains, columns)
        table, types = snapshot(engine, source, id_column, list(columns), dataset), source.columns
        shown = RECORDS_TABLE if source.reference is None and source.table == Source.table else source.table
        shown = dataset.table if shown == RECORDS_TABLE and source.has(dataset.item_column) else shown
    share = Fraction(1, max(len(columns), 1))
    attributes: list[Attribute] = []
    warnings: list[str] = []
    for i, (name, kind) in enumerate(columns.items()):
        check_type(source, name)
        column = _Column(engine, table, f"c{i}", name, types[name], shares.get(name.lower(), share))
        tree, stated = trees.get(name.lower()), released_type(types[name])
        tree = None if tree is None else of_type(engine, tree, stated)
        attribute = column.read(kind, tree, ranges.get(name.lower()))
        warnings += _remarks(attribute, types[name], kind, dataset.n_transactions)
        stated = attribute.sql_type if stated == "VARCHAR" else stated
        attributes.append(replace(attribute, type=stated))
    engine.drop(table)
    return Records(tuple(attributes), dataset.n_transactions, tuple(warnings), shown, named)


def _remarks(attribute: Attribute, sql_type: str, kind: str | None, records: int) -> Iterator[str]:
    """What the owner should know of an attribute that was read."""
    name = attribute.name
    yield from enum_remark(name, sql_type)
    if kind is None and sql_type == "VARCHAR" and attribute.is_range:
        what, when = (
            ("numbers", "its values are codes") if attribute.kind == "numeric" else ("dates", "it shall stay a text")
        )
        yield f"{name!r} is read as {what}; write {name}:categorical if {when}."
    texts = [v for v in attribute.values if v] if kind is None and attribute.hierarchy is None else []
    alike = sum(bool(MEASURE.fullmatch(v) or _PLAIN.fullmatch(v)) for v in texts)
    if alike and 5 * alike >= 4 * len(texts):
        words = f"is categorical, although {alike} of its {len(texts)} values look like numbers or dates"
        yield f"{name!r} {words}: {name}:numeric and {name}:date say what is wrong, {name}:categorical confirms it."
    if len(np.unique(attribute.codes)) == records > 1:
        if kind is None and not attribute.is_range and attribute.hierarchy is None:
            words = f"{name!r} has a different value in every record, like a direct identifier."
            raise InputError(words, code="direct_identifier", hint=f"Leave it out, or confirm it as {name}:categorical.")
        yield f"{name!r} has a different value in every record: is it a direct identifier?"


def load_classes(engine: Engine, records: Any, dataset: Dataset, quasi_identifiers: str | Sequence[str] | None) -> Table:
    """Make the work table ``(tid, class)`` of records with equal original quasi-identifiers; NULL equals NULL. Arguments and
    errors are those of ``load_records``. Kinds and hierarchies are ignored, since nothing is generalized."""
    with open_source(engine, records, "records") as source:
        id_column = source.column(dataset.id_column, "--id")
        names = [source.column(name, "--quasi-identifiers") for name, _ in parse_quasi_identifiers(quasi_identifiers)]
        for name in names:
            check_type(source, name)
        rows = snapshot(engine, source, id_column, names, dataset)
    numbered = classes_of(engine, rows, [f"c{i}" for i in range(len(names))])
    engine.drop(rows)
    return numbered


def classes_of(engine: Engine, rows: Table, names: Sequence[str]) -> Table:
    """Make the work table ``(tid, class)`` of the rows of ``snapshot`` that agree in these columns; NULL equals NULL."""
    number = f"CAST(dense_rank() OVER (ORDER BY {', '.join(names) or 1}) AS INTEGER) AS class"
    return engine.create("classes", reads.rows(rows, f"tid, {number}"))


def snapshot(engine: Engine, source: Source, id_column: str, columns: list[str], dataset: Dataset) -> Table:
    """Copy the columns as texts to a work table (tid, c0, c1, ...), tid as in the dataset. Raises InputError: NULL, repeated
    or missing ids; different values in the rows of an id."""
    key = id_of(id_column, source.columns[id_column])
    texts = listed((f"{key} AS id", *(f"{text_of(c, source.columns[c])} AS c{i}" for i, c in enumerate(columns))))
    with_id = f"{key} IS NOT NULL" if source.how.drop_missing_ids else None
    of_items = source.has(dataset.item_column)  # rows are those of transactions
    with reading(source.name):
        rows = engine.create("records_source", reads.rows(source.query, texts, where=with_id, distinct=of_items))
    counts = engine.query("records/counts", {"source": rows, "ids": dataset.ids})
    total, nulls, distinct, matched = (int(column[0]) for column in counts.values())
    if nulls:
        raise InputError(f"{nulls} rows of {source.name} have no id.", code="null_id", hint="Give each row an id.")
    if distinct < total and of_items:
        varying = int(engine.scalar(reads.counted(reads.counted(rows, "id", having="count(*) > 1"))))
        words = f"{varying} ids of {source.name} have different values of the quasi-identifiers in different rows."
        hint = "Give all rows of an id the same values, make each visit an id of its own, or leave the column out."
        raise InputError(words, code="varying_record", hint=hint)
    if distinct < total:
        words = f"{total - distinct} rows of {source.name} repeat an id; a person must have one record."
        raise InputError(words, code="repeated_id", hint="Keep one row for each id.")
    if matched < dataset.n_transactions or matched < total:
        alike = int(engine.scalar(reads.rows(dataset.ids, f"count(*) - count(DISTINCT {_PLAIN_ID}) AS n")))
        spelled = (
            f"{alike:,} ids differ from another by blanks, leading zeros or a final .0 alone: write them alike in both."
        )
        words = f"{dataset.n_transactions - matched} ids of the transactions are not in {source.name}."
        hint = spelled if alike else "Give each of them a record, or leave their transactions out."
        raise InputError(words, code="no_record", hint=hint)
    numbered = ", ".join(("one.tid", *(f"other.c{i}" for i in range(len(columns)))))
    table = engine.create("records", reads.joined(dataset.ids, rows, "id", numbered))
    engine.drop(rows)
    return table


class _Column:
    """One column of the snapshot, as text, and its conversion to an attribute."""

    def __init__(self, engine: Engine, table: Table, column: str, name: str, kind: str, weight: Fraction) -> None:
        self.engine, self.name, self.kind, self.weight = engine, name, kind.partition("(")[0], weight
        self.source = reads.rows(table, f"tid, {column} AS value")

    def read(self, kind: str | None, tree: Taxonomy | None, domain: Domain | None) -> Attribute:
        """Read the attribute as ``kind`` or, for None, as the kind that its type and values suggest."""
        if tree is not None:
            if kind not in (None, "categorical") or domain is not None:
                words = f"{self.name!r} has a hierarchy, so it is categorical."
                raise InputError(words, code="bad_usage", hint="Leave its kind and its domain out.")
            return self._categorical(tree)
        numbers = {n: int(v[0]) for n, v in self.engine.query("records/numbers", {"source": self.source}).items()}
        if kind is None:
            typed = "INT" in self.kind or self.kind in ("DECIMAL", "DOUBLE", "FLOAT")
            texts = self.kind == "VARCHAR" and numbers["present"] > 0
            plain = texts and numbers["plain"] == numbers["present"]
            dated = self.kind == "DATE" or self.kind.startswith("TIMESTAMP") or (texts and not self._no_dates())
            kind = "numeric" if typed or plain else "date" if dated else "categorical"
        if self.kind == "FLOAT" or (self.kind == "DOUBLE" and kind == "categorical"):
            words = f"{self.name!r} has the type {self.kind}, which rounds different numbers of a query to the same value."
            raise InputError(words, code="bad_type", hint="Cast it to DECIMAL in a view.")
        if kind == "numeric":
            return self._numeric(numbers, domain)
        if kind == "date":
            return self._date(domain)
        if domain is not None:
            raise InputError(f"{self.name!r} is categorical, so it cannot have a domain of numbers.", code="bad_usage")
        return self._categorical(None)

    def _numeric(self, numbers: dict[str, int], domain: Domain | None) -> Attribute:
        if numbers["odd"]:
            words = f"{numbers['odd']} values of {self.name!r} are NaN, infinite or a negative zero."
            raise InputError(words, code="bad_number", hint="Make them NULL, or numbers.")
        if numbers["plain"] < numbers["present"] or numbers["digits"] + numbers["decimals"] > MAX_DIGITS:
            words = f"{self.name!r} has values other than plain decimal numbers of at most {MAX_DIGITS} digits."
            hint = f"Write them with a point, without commas, or cast them to DECIMAL; or read {self.name}:categorical."
            raise InputError(words, code="bad_number", hint=hint)
        decimals = numbers["decimals"]
        values = self.engine.query("records/scaled", {"source": self.source}, decimals=decimals)["value"]
        kind = "BIGINT" if not decimals else f"DECIMAL(18,{decimals})"
        ends = None if domain is None else domain_of_numbers(self.name, domain, decimals)
        return self._range("numeric", values, Fraction(1, 10**decimals), kind, ends)

    def _date(self, domain: Domain | None) -> Attribute:
        with reading(f"column {self.name!r}"):
            if wrong := self._no_dates():
                raise InputError(
                    f"{wrong} values of {self.name!r} are finer than microseconds, or no dates like 2001-02-03.",
                    code="bad_date",
                    hint="Write them as YYYY-MM-DD, as CAST(strptime(COLUMN, '%d.%m.%Y') AS DATE) does in DuckDB; or read"
                    f" {self.name}:categorical.",
                )
            dates = self.engine.query("records/dates", {"source": self.source})
        if not dates["finite"].all():
            raise InputError(f"{self.name!r} has infinite dates.", code="bad_number", hint="Make them NULL.")
        days = not np.any(np.ma.filled(dates["value"], 0) % DAY)
        ends = None if domain is None else domain_of_dates(self.name, domain)
        return self._range("date", dates["value"], Fraction(1), "DATE" if days else "TIMESTAMP", ends)

    def _no_dates(self) -> int:
        """The number of values that are too fine or, in a column of texts, are no dates."""
        return int(self.engine.scalar("records/inexact_dates", {"source": self.source}, texts=self.kind == "VARCHAR"))

    def _range(
        self, kind: str, column: npt.NDArray[Any], unit: Fraction, sql_type: str, domain: tuple[int, int] | None
    ) -> Attribute:
        null = np.ma.getmaskarray(column)
        codes = np.where(null, 0, np.ma.filled(column, 0).astype(np.int64))
        values = codes[~null]
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        if domain is not None:
            if domain[0] > low or domain[1] < high:
                raise InputError(f"The domain of {self.name!r} does not contain all of its values.", code="bad_domain")
            low, high = domain
        return Attribute(self.name, kind, codes, null, self.weight, high - low, unit, sql_type=sql_type)

    def _categorical(self, tree: Taxonomy | None) -> Attribute:
        occurring = self.engine.select(reads.rows(self.source, "value", distinct=True, order="value"))["value"].tolist()
        ordered: list[str | None] = occurring
        if tree is not None:
            ordered = [*(tree.labels[v] for v in tree.leaves(0).tolist()), *([None] * (None in occurring))]
            if missing := len(set(occurring).difference(ordered)):
                words = f"{missing} values of {self.name!r} are not among the leaves of its hierarchy."
                raise InputError(words, code="unknown_value", hint="Add them as leaves.")
        numbered: dict[str, tuple[str, list[Any]]] = {"code": ("INTEGER", list(range(len(ordered))))}
        domain = self.engine.put("records_domain", numbered | {"value": ("VARCHAR", ordered)})
        codes = self.engine.query("records/coded", {"source": self.source, "domain": domain})["code"].astype(np.int64)
        self.engine.drop(domain)
        null = codes == ordered.index(None) if None in ordered else np.zeros(len(codes), dtype=np.bool_)
        values = tuple(ordered)
        return Attribute(self.name, "categorical", codes, null, self.weight, len(values), values=values, hierarchy=tree)
