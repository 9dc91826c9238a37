"""Layouts: turns columns of items, 0 and 1, or lists in a cell into one column of lists of items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from anondb.data.sources import Source, count_if, figures
from anondb.data.types import element_of
from anondb.engine import Engine, reads
from anondb.engine.texts import Sql, listed, literal, quoted, sql
from anondb.errors import InputError
from anondb.reading.options import MARKS, OF_LINES, PEOPLE, names_in

ITEMS = "item"  # the name of the column that several become
ROW_ID = "tid"  # the name of the number of a row that is a person
TRUE = ("1", "1.0", "true", "t", "yes", "y", "x")
FALSE = ("0", "0.0", "false", "f", "no", "n", "?", "")
_SURE = ("1", "0", "true", "false", "")  # true and false beyond doubt: x and y may be items


def is_single(source: Source, item_column: str) -> bool:
    """Whether the text that names the items is the name of one column."""
    return source.has(item_column) or not set(item_column) & set(",*")


def item_columns(source: Source, item_column: str, id_column: str) -> list[str]:
    """The columns of items: those named (``names_in``), with ``*`` for any text; by default all but the id. Raises
    InputError: ``no_such_column``, or ``column_clash`` if one is named twice."""
    others = [name for name in source.columns if name.lower() != id_column.lower()]
    if item_column == ITEMS and not source.has(ITEMS):
        return others
    if is_single(source, item_column):
        return [source.column(item_column, "--item")]
    chosen: list[str] = []
    for part in names_in(item_column):
        pattern = re.compile(re.escape(part.strip()).replace(r"\*", ".*"), re.IGNORECASE)
        if "*" in part and part not in source.columns:
            fitting = [name for name in others if pattern.fullmatch(name)]
            chosen += fitting or [source.column(part, "--item")]
        else:
            chosen.append(source.column(part if source.has(part) else part.strip(), "--item"))
    if len(set(chosen)) < len(chosen) or len(others) < len({*others, *chosen}):
        hint = "Name each column once."
        raise InputError("--item names a column twice, or that of the ids.", code="column_clash", hint=hint)
    return chosen


def arranged(engine: Engine, source: Source, id_column: str, item_column: str) -> tuple[Source, str, str]:
    """A source with one column of items, and the names of its columns of ids and of items. Raises InputError: ``no_layout``
    if a layout has to be named; ``bad_layout`` if the rows are not in it; missing columns."""
    layout, reason, account = source.how.layout, None, source.account
    if source.of_lines and account is not None:
        layout, reason = str(account.layout), account.reason
    elif layout in OF_LINES:
        raise InputError(f"The layout {layout} is that of text files.", code="bad_layout", hint="Name another one.")
    elif layout is None:
        layout, reason = _detected(engine, source, id_column, item_column)
    for name, of in (("item-separator", "list"), ("item-domains", "wide")):
        if getattr(source.how, name.replace("-", "_")) and layout != of:  # where it would do nothing
            words = f"--{name} is about the layout {of}, and this is {layout}."
            raise InputError(words, code="bad_usage", hint=f"Leave it out, or name --layout {of}.")
    if account is not None:
        source = replace(source, account=replace(account, layout=layout, reason=reason))
    if layout == "long" and not is_single(source, item_column):
        raise InputError("The layout long has one column of items.", code="bad_layout", hint="Name one with --item.")
    if layout == "long" or source.of_lines:
        return source, source.column(id_column, "--id"), source.column(item_column, "--item")
    if layout == PEOPLE and item_column != ITEMS:
        raise InputError("In the layout people nobody has items.", code="bad_layout", hint="Leave out --item, or --layout.")
    if source.has(id_column) or id_column != ROW_ID:
        id_column = source.column(id_column, "--id")
    else:  # a row is a person
        query = reads.rows(source.query, f"*, row_number() OVER () AS {ROW_ID}")
        source = replace(source, query=query, columns={**source.columns, ROW_ID: "BIGINT"})
    columns = [] if layout == PEOPLE else item_columns(source, item_column, id_column)
    if layout == "list":
        if len(columns) != 1:
            raise InputError("The layout list has one column of items.", code="bad_layout", hint="Name it with --item.")
        name, items = columns[0], _list(engine, source, columns[0])
    else:
        columns = _with_values(engine, source, columns) if layout == "wide" else columns
        _check_types(source, columns, layout)
        items = _one_hot(engine, source, columns) if layout == "one-hot" else _wide(source, columns)
        others = {name.lower() for name in source.columns if name not in columns}
        name = next(n for n in (ITEMS, *(f"{ITEMS}{i}" for i in range(2, len(others) + 3))) if n not in others)
    kept = {c: kind for c, kind in source.columns.items() if c not in columns}
    query = reads.rows(source.query, listed((*map(quoted, kept), f"{items} AS {quoted(name)}")))
    collated = source.collated - {name}
    return replace(source, query=query, columns=kept | {name: "VARCHAR[]"}, collated=collated), id_column, name


def _detected(engine: Engine, source: Source, id_column: str, item_column: str) -> tuple[str, str | None]:
    """The layout, if it is certain, and why. Raises InputError: ``no_layout``: it is not."""
    if is_single(source, item_column):
        if source.how.item_separator is not None:
            return "list", "a separator of items is named"
        names = [name for name in source.columns if name.lower() == item_column.lower()]
        if names and source.columns[names[0]] in ("VARCHAR", "JSON") and _all_arrays(engine, source, names[0]):
            return "list", "each cell is a list"
        return "long", None
    columns = item_columns(source, item_column, id_column)
    _check_types(source, columns, "one-hot")
    if source.how.item_domains:
        return "wide", "the columns are different domains"
    if all(source.columns[name] == "BOOLEAN" for name in columns) or not any(_other_cells(engine, source, columns, _SURE)):
        return "one-hot", "the columns of items are true or false"
    stems = {re.sub(r"[\W_]*\d+[\W_]*$", "", name).lower() for name in columns}
    if len(stems) == 1 and len(columns) > 1 and all(re.search(r"\d", name) for name in columns):
        return "wide", "the names of the columns of items differ by a number"
    raise InputError(
        f"{len(columns)} columns of items can mean two things.",
        code="no_layout",
        hint="If a value means the same in each of them, add --layout wide; if the columns are different domains, such as"
        " diagnosis and drug, --item-domains, which makes items DIAGNOSIS.value.",
    )


def _text(source: Source, name: str) -> Sql:
    return quoted(name) if source.columns[name] == "VARCHAR" else sql("CAST({} AS VARCHAR)", quoted(name))


def _present(lists: Sql) -> Sql:
    """The elements of lists that are neither NULL nor empty."""
    return sql("list_filter(CAST({} AS VARCHAR[]), lambda each: each <> '')", lists)


def _check_types(source: Source, columns: Sequence[str], layout: str) -> None:
    for name in columns:
        source.column(name, "--item")
        if layout != "one-hot" or source.columns[name] not in ("DOUBLE", "FLOAT"):
            element_of(source, name)


def _with_values(engine: Engine, source: Source, columns: list[str]) -> list[str]:
    """The columns without those of floats that have no value: pandas makes them of empty columns."""
    floats = [name for name in columns if source.columns[name] in ("DOUBLE", "FLOAT")]
    filled = {name: count_if(sql("{} IS NOT NULL", quoted(name))) for name in floats}
    counts = figures(engine, source, filled) if floats else {}
    return [name for name in columns if counts.get(name, 1)]


def _wide(source: Source, columns: Sequence[str]) -> Sql:
    """The values of the columns, with the name of their column before them if the columns are different domains."""
    if source.how.item_domains and any(other.startswith(f"{name}.") for name in columns for other in columns):
        words = "The names of two columns of items begin alike, up to a point: different values could become one item."
        raise InputError(words, code="column_clash", hint="Rename one of them.")
    parts = []
    for name in columns:
        of_lists = source.columns[name].endswith("]")
        texts = _present(quoted(name) if of_lists else sql("[{}]", _text(source, name)))
        if source.how.item_domains:
            texts = sql("list_transform({}, lambda each: {} || each)", texts, f"{name}.")
        parts.append(sql("coalesce({}, CAST([] AS VARCHAR[]))", texts))
    return sql("CAST(flatten([{}]) AS VARCHAR[])", listed(parts))


def _other_cells(engine: Engine, source: Source, columns: Sequence[str], words: Sequence[str]) -> list[int]:
    """The number of cells of each column that are none of some words."""
    sums = {f"c{i}": count_if(f"NOT {_is_among(source, name, words)}") for i, name in enumerate(columns)}
    return list(figures(engine, source, sums).values())


def _is_among(source: Source, name: str, words: Sequence[str]) -> Sql:
    """Whether the cell of a column of 0 and 1 is one of some words."""
    return sql("coalesce(trim(lower({})), '') IN ({})", _text(source, name), listed(map(literal, words)))


def _one_hot(engine: Engine, source: Source, columns: Sequence[str]) -> Sql:
    """The names of the columns that are true."""
    others = _other_cells(engine, source, columns, (*TRUE, *FALSE))
    if any(others):
        which = list(source.columns).index(next(c for c, cells in zip(columns, others, strict=True) if cells)) + 1
        raise InputError(
            f"{sum(others)} cells of {source.name}, the first in column {which}, are neither true nor false (1 and 0, true"
            " and false, t and f, yes and no, ?).",
            code="bad_layout",
            hint="Name the columns of items with --item, or --layout wide if cells hold items.",
        )
    named = listed(sql("CASE WHEN {} THEN {} END", _is_among(source, column, TRUE), column) for column in columns)
    return _present(sql("[{}]", named))


# A cell as a list of texts; NULL if it is neither a JSON array, nor [a, b], nor {a,b}. Only JSON has escapes, and only the
# other reading has numbers with their digits.
_BRACKETED = """
CASE
    WHEN {cell} IS NULL OR {cell} = '' THEN CAST([] AS VARCHAR[])
    WHEN {cell} LIKE '[%]' AND contains({cell}, '\\') THEN list_transform(
        TRY_CAST(TRY_CAST({cell} AS JSON) AS JSON[]),
        lambda each, i: CASE
            WHEN starts_with(each, '"') THEN json_extract_string(each, '$') ELSE TRY_CAST({cell} AS VARCHAR[])[i]
        END
    )
    WHEN {cell} LIKE '[%]' THEN TRY_CAST({cell} AS VARCHAR[])
    WHEN {cell} LIKE '{{%}}' AND ({cell} = '{{}}' OR NOT json_valid({cell}))
        THEN TRY_CAST('[' || array_slice({cell}, 2, -2) || ']' AS VARCHAR[])
END
"""
# A cell as the list of its parts, without blanks around them.
_SEPARATED = "list_transform(string_split(coalesce({cell}, ''), {separator}), lambda each: trim(each))"


def _cell(source: Source, name: str) -> Sql:
    return sql("trim({})", _text(source, name))


def _all_arrays(engine: Engine, source: Source, name: str) -> bool:
    """Whether each cell of a column that is not empty is a list, and there is one; the first rows are tried first."""
    filled = sql("coalesce({}, '') <> ''", _cell(source, name))
    lists = sql("{} AND ({}) IS NOT NULL", filled, sql(_BRACKETED, cell=_cell(source, name)))
    counts = {"filled": count_if(filled), "lists": count_if(lists)}
    return all(
        0 < sums["filled"] == sums["lists"] for limit in (10, None) if (sums := figures(engine, source, counts, limit))
    )


def _list(engine: Engine, source: Source, name: str) -> Sql:
    """The items of a cell: of a JSON array, ``{a,b}``, or separated by what the owner names or all cells agree on."""
    source.column(name, "--item")
    if source.columns[name] != "JSON" and element_of(source, name) is not None:
        return sql("CAST({} AS VARCHAR[])", quoted(name))
    if source.how.item_separator is None and _all_arrays(engine, source, name):
        lists = sql(_BRACKETED, cell=_cell(source, name))
        begins = "list_transform({}, lambda each: starts_with(each, '[') OR starts_with(each, '{{'))"
        nested = count_if(sql("list_bool_or({})", sql(begins, lists)))
        if inner := figures(engine, source, {"nested": nested})["nested"]:
            words = f"{inner} cells of {source.name} have lists or objects inside their lists."
            raise InputError(words, code="bad_layout", hint="Items are texts, numbers or booleans.")
        return lists
    if source.columns[name] == "JSON":
        element_of(source, name)
    separator = source.how.item_separator or _separator(engine, source, name)
    return _present(sql(_SEPARATED, cell=_cell(source, name), separator=separator))


def _separator(engine: Engine, source: Source, name: str) -> str:
    """The separator that occurs in the cells of a column: the only usual delimiter, or else the blank."""
    bracketed = count_if(sql("starts_with({0}, '[') OR starts_with({0}, '{{')", _cell(source, name)))
    if broken := figures(engine, source, {"cells": bracketed})["cells"]:
        words = f"{broken} cells of {source.name} begin like JSON arrays or {{a,b}}, and not all cells are such lists."
        raise InputError(words, code="bad_layout", hint="Mend them, or name the separator with --item-separator.")
    contained = (sql("contains({}, {})", _cell(source, name), text) for text in (*MARKS, " "))
    sums = list(figures(engine, source, {f"s{i}": count_if(each) for i, each in enumerate(contained)}).values())
    occurring = [text for text, cells in zip(MARKS, sums, strict=False) if cells]
    if len(occurring) == 1 or (not occurring and sums[-1]):
        return occurring[0] if occurring else " "
    which = " or ".join(map(repr, occurring)) if occurring else "nothing that is known"
    words = f"The items in column {list(source.columns).index(name) + 1} of {source.name} are separated by {which}."
    raise InputError(words, code="no_separator", hint="Name it with --item-separator.")
