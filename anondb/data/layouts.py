"""Layouts: turns columns of items, 0 and 1, or lists in a cell into one column of lists of items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from anondb.data.sources import Source, count_if, figures
from anondb.data.types import element_of
from anondb.engine import Engine, reads
from anondb.engine.trees import exp, parsed
from anondb.errors import InputError
from anondb.reading.options import MARKS, OF_LINES, PEOPLE

ITEMS = "item"  # the name of the column that several become
ROW_ID = "tid"  # the name of the number of a row that is a person
TRUE = ("1", "1.0", "true", "t", "yes", "y", "x")
FALSE = ("0", "0.0", "false", "f", "no", "n", "?", "")
_SURE = ("1", "0", "true", "false", "")  # true and false beyond doubt: x and y may be items


def is_single(source: Source, item_column: str) -> bool:
    """Whether the text that names the items is the name of one column."""
    return source.has(item_column) or not set(item_column) & set(",*")


def item_columns(source: Source, item_column: str, id_column: str) -> list[str]:
    """The columns of items: those named, separated by commas, with ``*`` for any text; by default all but the id. Raises
    InputError: ``no_such_column``, or ``column_clash`` if one is named twice."""
    others = [name for name in source.columns if name.lower() != id_column.lower()]
    if item_column == ITEMS and not source.has(ITEMS):
        return others
    if is_single(source, item_column):
        return [source.column(item_column, "--item")]
    chosen: list[str] = []
    for part in item_column.split(","):
        pattern = re.compile(re.escape(part.strip()).replace(r"\*", ".*"), re.IGNORECASE)
        if "*" in part and part not in source.columns:
            fitting = [name for name in others if pattern.fullmatch(name)]
            chosen += fitting or [source.column(part, "--item")]
        else:
            chosen.append(source.column(part if source.has(part) else part.strip(), "--item"))
    if len(set(chosen)) < len(chosen) or len(others) < len({*others, *chosen}):
        raise InputError(
            "--item names a column twice, or that of the ids.", code="column_clash", hint="Name each column once."
        )
    return chosen


def arranged(engine: Engine, source: Source, id_column: str, item_column: str) -> tuple[Source, str, str]:
    """A source with one column of items, and the names of its columns of ids and of items. Raises InputError: ``no_layout``
    if a layout has to be named; ``bad_layout`` if the rows are not in it; missing columns."""
    layout, reason = source.how.layout, None
    if source.of_lines and source.account is not None:
        _check_options(source, str(source.account.layout))
        return source, source.column(id_column, "--id"), source.column(item_column, "--item")
    if layout in OF_LINES:
        raise InputError(f"The layout {layout} is that of text files.", code="bad_layout", hint="Name another one.")
    if layout is None:
        layout, reason = _detected(engine, source, id_column, item_column)
    _check_options(source, layout)
    if source.account is not None:
        source = replace(source, account=replace(source.account, layout=layout, reason=reason))
    if layout == "long":
        if not is_single(source, item_column):
            raise InputError("The layout long has one column of items.", code="bad_layout", hint="Name one with --item.")
        return source, source.column(id_column, "--id"), source.column(item_column, "--item")
    if layout == PEOPLE and item_column != ITEMS:
        raise InputError("In the layout people nobody has items.", code="bad_layout", hint="Leave out --item, or --layout.")
    source, id_column = _with_ids(source, id_column)
    columns = [] if layout == PEOPLE else item_columns(source, item_column, id_column)
    if layout == "list":
        if len(columns) != 1:
            raise InputError("The layout list has one column of items.", code="bad_layout", hint="Name it with --item.")
        return _with_items(source, columns, columns[0], _list(engine, source, columns[0])), id_column, columns[0]
    if layout == "wide":
        columns = _with_values(engine, source, columns)
    _check_types(source, columns, layout)
    if layout == "one-hot":
        _check_truth(engine, source, columns)
    items = _one_hot(source, columns) if layout == "one-hot" else _wide(source, columns)
    kept = {name.lower() for name in source.columns if name not in columns}
    name = next(n for n in (ITEMS, *(f"{ITEMS}{i}" for i in range(2, len(kept) + 3))) if n not in kept)
    return _with_items(source, columns, name, items), id_column, name


def _check_options(source: Source, layout: str) -> None:
    """Refuse an option of one layout in another, where it would do nothing."""
    for name, of in (("item-separator", "list"), ("item-domains", "wide")):
        if getattr(source.how, name.replace("-", "_")) and layout != of:
            words = f"--{name} is about the layout {of}, and this is {layout}."
            raise InputError(words, code="bad_usage", hint=f"Leave it out, or name --layout {of}.")


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


def _with_ids(source: Source, id_column: str) -> tuple[Source, str]:
    """The source with the number of the row as its id if it has no column of ids."""
    if source.has(id_column) or id_column != ROW_ID:
        return source, source.column(id_column, "--id")
    number = exp.Window(this=exp.RowNumber()).as_(ROW_ID)
    query = exp.select("*", number).from_(source.rows)
    return replace(source, query=query, columns={**source.columns, ROW_ID: "BIGINT"}), ROW_ID


def _parsed(text: str, **values: exp.Expr | str) -> exp.Expr:
    """An expression in which names stand for other expressions, or for texts."""
    tree = parsed(text)
    trees = {name: exp.Literal.string(value) if isinstance(value, str) else value for name, value in values.items()}
    return tree.transform(lambda n: trees[n.name].copy() if isinstance(n, exp.Column) and n.name in trees else n)


def _text(source: Source, name: str) -> exp.Expr:
    return reads.named(name) if source.columns[name] == "VARCHAR" else exp.cast(reads.named(name), "VARCHAR")


def _with_items(source: Source, columns: Sequence[str], name: str, items: exp.Expr) -> Source:
    """The source without the columns of items, and with the lists that they become."""
    kept = [c for c in source.columns if c not in columns]
    query = exp.select(*map(reads.named, kept), items.as_(name, quoted=True)).from_(source.rows)
    kinds = {c: source.columns[c] for c in kept} | {name: "VARCHAR[]"}
    return replace(source, query=query, columns=kinds, collated=source.collated - {name})


def _present(lists: exp.Expr) -> exp.Expr:
    """The elements of lists that are neither NULL nor empty."""
    return _parsed("list_filter(CAST(lists AS VARCHAR[]), lambda each: each <> '')", lists=lists)


def _check_types(source: Source, columns: Sequence[str], layout: str) -> None:
    for name in columns:
        source.column(name, "--item")
        if layout != "one-hot" or source.columns[name] not in ("DOUBLE", "FLOAT"):
            element_of(source, name)


def _with_values(engine: Engine, source: Source, columns: list[str]) -> list[str]:
    """The columns without those of floats that have no value: pandas makes them of empty columns."""
    floats = [name for name in columns if source.columns[name] in ("DOUBLE", "FLOAT")]
    filled = {name: count_if(_parsed("cell IS NOT NULL", cell=reads.named(name))) for name in floats}
    counts = figures(engine, source, filled) if floats else {}
    return [name for name in columns if counts.get(name, 1)]


def _wide(source: Source, columns: Sequence[str]) -> exp.Expr:
    """The values of the columns, with the name of their column before them if the columns are different domains."""
    if source.how.item_domains and any(other.startswith(f"{name}.") for name in columns for other in columns):
        raise InputError(
            "The names of two columns of items begin alike, up to a point: different values could become one item.",
            code="column_clash",
            hint="Rename one of them.",
        )
    parts: list[exp.Expr] = []
    for name in columns:
        of_lists = source.columns[name].endswith("]")
        texts = _present(reads.named(name) if of_lists else exp.Array(expressions=[_text(source, name)]))
        if source.how.item_domains:
            texts = _parsed("list_transform(texts, lambda each: prefix || each)", texts=texts, prefix=f"{name}.")
        parts.append(_parsed("coalesce(texts, CAST([] AS VARCHAR[]))", texts=texts))
    return _parsed("CAST(flatten(parts) AS VARCHAR[])", parts=exp.Array(expressions=parts))


def _truth(source: Source, name: str) -> exp.Expr:
    """The cell of a column of 0 and 1 as text, for comparisons."""
    return _parsed("coalesce(trim(lower(cell)), '')", cell=_text(source, name))


def _one_hot(source: Source, columns: Sequence[str]) -> exp.Expr:
    named = [_parsed("CASE WHEN held THEN name END", held=_truth(source, c).isin(*TRUE), name=c) for c in columns]
    return _present(exp.Array(expressions=named))


def _other_cells(
    engine: Engine, source: Source, columns: Sequence[str], words: Sequence[str] = (*TRUE, *FALSE)
) -> list[int]:
    """The number of cells of each column that are none of some words, by default neither true nor false."""
    sums = {f"c{i}": count_if(exp.Not(this=_truth(source, name).isin(*words))) for i, name in enumerate(columns)}
    return list(figures(engine, source, sums).values())


def _check_truth(engine: Engine, source: Source, columns: Sequence[str]) -> None:
    others = _other_cells(engine, source, columns)
    if any(others):
        which = list(source.columns).index(next(c for c, cells in zip(columns, others, strict=True) if cells)) + 1
        raise InputError(
            f"{sum(others)} cells of {source.name}, the first in column {which}, are neither true nor false (1 and 0, true"
            " and false, t and f, yes and no, ?).",
            code="bad_layout",
            hint="Name the columns of items with --item, or --layout wide if cells hold items.",
        )


# A cell as a list of texts; NULL if it is neither a JSON array, nor [a, b], nor {a,b}. Only JSON has escapes, and only the
# other reading has numbers with their digits.
_BRACKETED = """
CASE
    WHEN cell IS NULL OR cell = '' THEN CAST([] AS VARCHAR[])
    WHEN cell LIKE '[%]' AND contains(cell, '\\') THEN list_transform(
        TRY_CAST(TRY_CAST(cell AS JSON) AS JSON[]),
        lambda each, i: CASE
            WHEN starts_with(each, '"') THEN json_extract_string(each, '$') ELSE TRY_CAST(cell AS VARCHAR[])[i]
        END
    )
    WHEN cell LIKE '[%]' THEN TRY_CAST(cell AS VARCHAR[])
    WHEN cell LIKE '{%}' AND (cell = '{}' OR NOT json_valid(cell))
        THEN TRY_CAST('[' || array_slice(cell, 2, -2) || ']' AS VARCHAR[])
END
"""
# A cell as the list of its parts, without blanks around them.
_SEPARATED = "list_transform(string_split(coalesce(cell, ''), separator), lambda each: trim(each))"


def _cell(source: Source, name: str) -> exp.Expr:
    return exp.Trim(this=_text(source, name))


def _bracketed(source: Source, name: str) -> exp.Expr:
    return _parsed(_BRACKETED, cell=_cell(source, name))


def _all_arrays(engine: Engine, source: Source, name: str) -> bool:
    """Whether each cell of a column that is not empty is a list, and there is one; the first rows are tried first."""
    filled = _parsed("coalesce(cell, '') <> ''", cell=_cell(source, name))
    lists = _parsed("filled AND lists IS NOT NULL", filled=filled, lists=_bracketed(source, name))
    counts = {"filled": count_if(filled), "lists": count_if(lists)}
    for limit in (10, None):
        sums = figures(engine, source, counts, limit)
        if not sums["filled"] or sums["lists"] < sums["filled"]:
            return False
    return True


def _list(engine: Engine, source: Source, name: str) -> exp.Expr:
    """The items of a cell: of a JSON array, ``{a,b}``, or separated by what the owner names or all cells agree on."""
    source.column(name, "--item")
    if source.columns[name] != "JSON" and element_of(source, name) is not None:
        return exp.cast(reads.named(name), "VARCHAR[]", dialect="duckdb")
    if source.how.item_separator is None and _all_arrays(engine, source, name):
        lists = _bracketed(source, name)
        nested = "list_bool_or(list_transform(items, lambda each: starts_with(each, '[') OR starts_with(each, '{')))"
        if inner := figures(engine, source, {"nested": count_if(_parsed(nested, items=lists))})["nested"]:
            raise InputError(
                f"{inner} cells of {source.name} have lists or objects inside their lists.",
                code="bad_layout",
                hint="Items are texts, numbers or booleans.",
            )
        return lists
    if source.columns[name] == "JSON":
        element_of(source, name)
    separator = source.how.item_separator or _separator(engine, source, name)
    return _present(_parsed(_SEPARATED, cell=_cell(source, name), separator=separator))


def _separator(engine: Engine, source: Source, name: str) -> str:
    """The separator that occurs in the cells of a column: the only usual delimiter, or else the blank."""
    bracketed = count_if(_parsed("starts_with(cell, '[') OR starts_with(cell, '{')", cell=_cell(source, name)))
    if broken := figures(engine, source, {"cells": bracketed})["cells"]:
        raise InputError(
            f"{broken} cells of {source.name} begin like JSON arrays or {{a,b}}, and not all cells are such lists.",
            code="bad_layout",
            hint="Mend them, or name the separator with --item-separator.",
        )
    contained = {
        f"s{i}": count_if(_parsed("contains(cell, part)", cell=_cell(source, name), part=text))
        for i, text in enumerate((*MARKS, " "))
    }
    sums = list(figures(engine, source, contained).values())
    occurring = [text for text, cells in zip(MARKS, sums, strict=False) if cells]
    if len(occurring) == 1 or (not occurring and sums[-1]):
        return occurring[0] if occurring else " "
    which = " or ".join(map(repr, occurring)) if occurring else "nothing that is known"
    raise InputError(
        f"The items in column {list(source.columns).index(name) + 1} of {source.name} are separated by {which}.",
        code="no_separator",
        hint="Name it with --item-separator.",
    )
