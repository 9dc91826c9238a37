"""The types that ids and items may have: those whose values are equal exactly, and have one text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anondb.engine import Engine, Query, reads
from anondb.engine.texts import Sql, listed, quoted, sql, type_text
from anondb.errors import InputError

if TYPE_CHECKING:
    from anondb.data.sources import Source

ROWS, LISTS = "rows", "lists"  # what a table of transactions has: a row for each item, or a list for each person

ID_TYPES = re.compile(
    r"(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|UHUGEINT|DECIMAL\(.*\)|BOOLEAN|UUID"
    r"|VARCHAR|DATE|TIME|TIMESTAMP[_A-Z ]*|ENUM\(.*\))$",
    re.S,
)

TYPES = ("BIGINT", "DOUBLE", "DECIMAL(18, 2)", "DATE", "TIMESTAMP", "BOOLEAN")  # that a column of texts may mean


def check_types(source: Source, id_column: str, item_column: str) -> str | None:
    """Check the types of both columns; return the element type of a LIST item column, else None. Raises InputError:
    ``bad_type``."""
    check_id_type(source, id_column)
    return element_of(source, item_column)


def element_of(source: Source, column: str) -> str | None:
    """The type of the elements of a list column, else None; ``bad_type`` unless it has a type of items or a list of them."""
    kind = source.columns[column]
    element = re.match(r"(.*)\[\d*\]$", kind, re.S)
    inner = element[1] if element else kind
    if not has_one_text(inner):
        raise InputError(
            f"The item column {column!r} of {source.name} has the type {short(kind)}.",
            code="bad_type",
            hint=_missing(source, inner)
            + "Items are text, integers, booleans, dates or enums, one a row or in a flat list.",
        )
    return inner if element else None


def has_one_text(kind: str) -> bool:
    """Whether equal values of a type have equal texts, under all settings: the text of a time zone depends on one."""
    return ID_TYPES.match(kind) is not None and "ZONE" not in kind.partition("(")[0]


def _missing(source: Source, kind: str) -> str:
    """A hint on data frames, which store whole numbers as floats where one is missing."""
    of_numbers = source.reference is None and "data frame" in source.name and kind in ("DOUBLE", "FLOAT")
    return "In pandas a missing value (NaN) makes whole numbers floats: drop its rows, or use dtype 'Int64'. " * of_numbers


def check_id_type(source: Source, column: str) -> None:
    """Check the type of a column of ids. Raises InputError: ``bad_type``."""
    if not ID_TYPES.match(source.columns[column]):
        raise InputError(
            f"The id column {column!r} of {source.name} has the type {short(source.columns[column])}.",
            code="bad_type",
            hint=_missing(source, source.columns[column])
            + "Cast it to an integer or text first: equal ids must be equal exactly.",
        )


def typed(engine: Engine, source: Source) -> Query:
    """The rows of a source with types for its texts: a column has the first of ``TYPES`` that gives all its values back as
    they are written, or with ``.0`` after them; with none of them, or without values, it stays text."""
    from anondb.data.sources import count_if, figures

    chosen, texts = [], [name for name, kind in source.columns.items() if kind == "VARCHAR"]
    sums = {f"{i} {kind}": count_if(_same(name, kind)) for i, name in enumerate(texts) for kind in ("VARCHAR", *TYPES)}
    same = figures(engine, source, sums) if texts else {}
    for name in source.columns:
        i = texts.index(name) if name in texts else None
        kind = next((kind for kind in TYPES if 0 < same.get(f"{i} {kind}", 0) == same[f"{i} VARCHAR"]), None)
        column = quoted(name)
        chosen.append(column if kind is None else sql("TRY_CAST({0} AS {1}) AS {0}", column, Sql(kind)))
    return reads.rows(source.query, listed(chosen))


def not_of_type(text: str, kind: str) -> Sql:
    """Whether no value of a type is written as a text is; the text is not NULL."""
    return sql("CAST(TRY_CAST({0} AS {1}) AS VARCHAR) IS DISTINCT FROM {0}", Sql(text), type_text(kind))


def _same(name: str, kind: str) -> Sql:
    """Whether a type gives a value back as it is written."""
    return sql("CAST(TRY_CAST({0} AS {1}) AS VARCHAR) IN ({0}, {0} || '.0')", quoted(name), Sql(kind))


def kind_of(kind: str) -> str:
    """The kind of a type, equal for comparable types: INTEGER for all widths, VARCHAR for text and enums, else the type."""
    if kind.startswith(("VARCHAR", "ENUM")):
        return "VARCHAR"
    return "INTEGER" if "INT" in kind else kind


RELEASED_TYPES = re.compile(
    r"BOOLEAN|BIGINT|DOUBLE|DECIMAL\((?P<digits>[1-9]|[12]\d|3[0-8]),(?P<decimals>\d|[12]\d|3[0-8])\)|VARCHAR|DATE|TIMESTAMP|UUID"
)
"""The types that a manifest names (docs/contract.md#the-manifest)."""
MOST_DIGITS = 38


def is_released(text: str) -> bool:
    """Whether a text is a type that a manifest names."""
    match = RELEASED_TYPES.fullmatch(text)
    return match is not None and int(match["decimals"] or 0) <= int(match["digits"] or 0)


_ROOM_FOR = {
    "UBIGINT": "DECIMAL(20,0)",
    **dict.fromkeys(("HUGEINT", "UHUGEINT"), f"DECIMAL({MOST_DIGITS},0)"),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS"), "TIMESTAMP"),
}


def released_type(kind: str) -> str:
    """The type that a manifest names for a column of this type. Whole numbers are BIGINT if every value of their type is
    one, else DECIMAL. Types beside the closed list are VARCHAR; the names of ENUM and STRUCT would list what the column may
    hold."""
    if re.fullmatch(r"U?(TINYINT|SMALLINT|INTEGER)|BIGINT", kind):
        return "BIGINT"
    kind = _ROOM_FOR.get(kind, kind).replace(", ", ",")
    return kind if RELEASED_TYPES.fullmatch(kind) else "VARCHAR"


def item_type(kind: str, labels: Sequence[str]) -> str:
    """``released_type`` for a column with these items: VARCHAR if one has more digits than any DECIMAL."""
    released = released_type(kind)
    too_long = "HUGEINT" in kind and any(len(label.lstrip("-")) > MOST_DIGITS for label in labels)
    return "VARCHAR" if too_long else released


def short(kind: str) -> str:
    """A type's name without the values of an ENUM or STRUCT; of what DuckDB has no type for, PostgreSQL's name."""
    return re.sub(r'UNION\("PostgreSQL (.*)" VARCHAR\)|\(.*', r"\1", kind, flags=re.S)
