"""A naive reader of files: one character after another, strict, nothing skipped, all values as texts.

It is what the reader of anondb is compared with. It guesses no delimiter: ``readings`` gives what a file holds with each
delimiter under which it is rectangular.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DELIMITERS = (",", ";", "\t", "|")
LINE = re.compile(r"\r\n|\r|\n")
TRUE = {"1", "true", "t", "yes", "y", "x"}
FALSE = {"0", "false", "f", "no", "n", "?", ""}
Persons = dict[str, set[str]]


class Malformed(Exception):
    """The file has no certain meaning; ``line`` is where that shows, if it is a line."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {why}" if line else why)
        self.line = line


@dataclass(frozen=True)
class Table:
    """Columns and rows; a cell is a text, None where nothing is written, or (in JSON) a list or another object."""

    columns: list[str]
    rows: list[list[Any]]

    def number(self, column: str) -> int:
        if self.columns.count(column) != 1:
            raise Malformed(f"the columns have {column!r} {self.columns.count(column)} times")
        return self.columns.index(column)


def decoded(data: bytes, encoding: str = "utf-8") -> str:
    """The text of a file without a byte-order mark."""
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Malformed("not in this encoding", data[: error.start].count(b"\n") + 1) from None


def without_lines(text: str, skip: int) -> str:
    """The text behind its first ``skip`` lines."""
    for _ in range(skip):
        end = LINE.search(text)
        text = text[end.end() :] if end else ""
    return text


def records(text: str, delimiter: str, quote: str = '"', line: int = 1) -> Iterator[tuple[int, list[str | None]]]:
    """The records of a delimited text, each with the line on which it begins; an unquoted empty field is None."""
    at, usual = 0, None
    while at < len(text):
        begin, cells = line, list[str | None]()
        while True:
            if quote and text.startswith(quote, at):
                value, at = _quoted(text, at, quote, line)
                line += len(LINE.findall(value))
                if at < len(text) and not text.startswith((delimiter, "\r", "\n"), at):
                    raise Malformed("text behind a quoted field", line)
                cells.append(value)
            else:
                start = at
                while at < len(text) and not text.startswith((delimiter, "\r", "\n"), at):
                    at += 1
                cells.append(text[start:at] or None)
            if not text.startswith(delimiter, at):
                break
            at += len(delimiter)
        if end := LINE.match(text, at):
            if end[0] != (usual or end[0]):
                raise Malformed("has another line break than the first", line)
            usual, at, line = end[0], end.end(), line + 1
        yield begin, cells


def _quoted(text: str, at: int, quote: str, line: int) -> tuple[str, int]:
    """The value of a quoted field, and the position behind it; a doubled quote stands for one."""
    value = ""
    while True:
        end = text.find(quote, at + 1)
        if end < 0:
            raise Malformed("a quote is never closed", line)
        value += text[at + 1 : end]
        if not text.startswith(quote, end + 1):
            return value, end + 1
        value, at = value + quote, end + 1


def table(text: str, delimiter: str, quote: str = '"', *, header: bool = True, skip: int = 0) -> Table:
    """A rectangular table; empty lines are omitted."""
    found = [r for r in records(without_lines(text, skip), delimiter, quote, skip + 1) if r[1] != [None]]
    if not found:
        raise Malformed("no header")
    width = len(found[0][1])
    for line, cells in found:
        if len(cells) != width:
            raise Malformed(f"{len(cells)} fields, not {width}", line)
    rows = [cells for _, cells in found]
    if not header:
        return Table([f"column{n}" for n in range(1, width + 1)], rows)
    columns = [cell or "" for cell in rows[0]]
    if len(set(columns)) < len(columns):
        raise Malformed("a column twice", found[0][0])
    return Table(columns, rows[1:])


def json_table(text: str) -> Table:
    """A table of JSON objects: an array of them, or one on each line; numbers are texts as they are written."""
    decoder = {"object_pairs_hook": _object, "parse_int": str, "parse_float": str, "parse_constant": _no_constant}
    try:
        if text.lstrip().startswith("["):
            objects = json.loads(text, **decoder)
        else:
            objects = [json.loads(line, **decoder) for line in text.split("\n") if line.strip()]
    except json.JSONDecodeError as error:
        raise Malformed("no JSON", error.lineno) from None
    if not objects or not all(isinstance(o, dict) for o in objects):
        raise Malformed("not an array or lines of objects")
    columns = list(dict.fromkeys(key for o in objects for key in o))
    if len({c.lower() for c in columns}) < len(columns):
        raise Malformed("keys that differ by case")
    return Table(columns, [[_json_text(o.get(c)) for c in columns] for o in objects])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Malformed("a key twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise Malformed(f"{name} is no JSON")


def _json_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_json_text(v) for v in value]
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


# ---------------------------------------------------------------------- layouts


def persons(
    t: Table,
    id: str | None,
    item: str | None,
    layout: str = "long",
    *,
    item_domains: bool = False,
    item_separator: str | None = None,
    drop_missing_ids: bool = False,
) -> Persons:
    """The items of each person of a table."""
    found: Persons = {}
    at = None if id is None and layout in ("wide", "one-hot") else t.number(id or "tid")
    columns = _columns(t, at, item) if layout in ("wide", "one-hot") else [t.number(item or "item")]
    for number, row in enumerate(t.rows, 1):
        person = str(number) if at is None else row[at]
        if person is None and drop_missing_ids:
            continue
        if not isinstance(person, str):
            raise Malformed("an id that is missing, or no text")
        items = found.setdefault(person, set())
        for c in columns:
            items |= _items(t.columns[c], row[c], layout, item_domains, item_separator)
    return found


def _columns(t: Table, id: int | None, item: str | None) -> list[int]:
    """The columns of items: those whose names match one of the patterns, or all but the id."""
    patterns = ["*"] if item is None else item.split(",")
    found = [
        {n for n, name in enumerate(t.columns) if re.fullmatch(".*".join(map(re.escape, p.split("*"))), name, re.S)}
        for p in patterns
    ]
    if not all(found):
        raise Malformed("no such column")
    return sorted(set().union(*found) - {id})


def _items(column: str, cell: Any, layout: str, domains: bool, separator: str | None) -> set[str]:
    if layout == "list" or isinstance(cell, list):
        return set(_list(cell, separator))
    if layout == "one-hot":
        value = (cell or "").lower()
        if value not in TRUE | FALSE:
            raise Malformed(f"{column} is not true or false")
        return {column} if value in TRUE else set()
    if layout == "wide":
        return set() if cell is None else {f"{column}.{cell}" if domains else cell}
    if not isinstance(cell, str):
        raise Malformed("an item that is missing, or no text")
    return {cell}


def _list(cell: Any, separator: str | None) -> list[str]:
    """The items of a list in a cell."""
    if cell is None:
        return []
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = _json_text(json.loads(cell, parse_int=str, parse_float=str))
        except json.JSONDecodeError:
            raise Malformed("a cell that is no JSON") from None
    if isinstance(cell, str) and cell.startswith("{") and cell.endswith("}"):
        return cell[1:-1].split(",") if cell != "{}" else []
    if isinstance(cell, str):
        if separator is None:
            raise Malformed("no separator")
        return [part for part in cell.split(separator) if part]
    if not all(isinstance(part, str) for part in cell):
        raise Malformed("a list with something that is no text")
    return list(cell)


def numbered(lists: list[list[str]]) -> Persons:
    """Each list is a person; they are numbered from 1."""
    return {str(n): set(items) for n, items in enumerate(lists, 1)}


def baskets(text: str, delimiter: str, quote: str = '"', *, header: bool = False, skip: int = 0) -> Persons:
    """A person on each line: the items that the delimiter separates; an empty line is a person without items."""
    found = records(without_lines(text, skip), delimiter, "" if delimiter == " " else quote)
    return numbered([[cell for cell in cells if cell is not None] for _, cells in found][header:])


def fimi(text: str) -> Persons:
    """A person on each line, items separated by blanks."""
    lists = [cells for _, cells in records(text.replace("\t", " "), " ", "")]
    if any(re.search("::|[,;|]", cell) for cells in lists for cell in cells if cell):
        raise Malformed("not FIMI")
    return numbered([[cell for cell in cells if cell] for cells in lists])


def spmf(text: str) -> Persons:
    """SPMF: items are separated by blanks, -1 ends a set of them, -2 a line; @ITEM names them; utilities are left out."""
    names: dict[str, str] = {}
    lists = []
    for number, line in enumerate(LINE.split(text), 1):
        if line.startswith("@ITEM="):
            key, _, name = line.removeprefix("@ITEM=").partition("=")
            names[key] = name
        elif line and line[0] not in "@#%":
            words = line.split(":")[0].split()
            if "-2" in words[:-1]:
                raise Malformed("items behind the end of a sequence", number)
            lists.append([names.get(word, word) for word in words if word not in ("-1", "-2")])
    return numbered(lists)


# ---------------------------------------------------------------------- whole files


def tables(data: bytes, name: str, *, delimiter: str | None = None, quote: str = '"', **file: Any) -> list[Table]:
    """The tables that a file may be: one for each delimiter under which it is rectangular, and has columns if any does."""
    text = decoded(data, file.pop("encoding", "utf-8"))
    if name.endswith(("json", "jsonl")):
        return [json_table(text)]
    found = []
    for candidate in [delimiter] if delimiter else DELIMITERS:
        try:
            found.append(table(text, candidate, "" if quote == "none" else quote, **file))
        except Malformed:
            continue
    several = [t for t in found if len(t.columns) > 1]
    return several or found[:1]


def readings(data: bytes, name: str, id: str | None = None, item: str | None = None, **options: Any) -> list[Persons]:
    """All that a file may mean; nothing if it has no certain meaning."""
    layout = options.pop("layout", "basket" if name.endswith(".dat") else "long")
    file = {o: options.pop(o) for o in ("delimiter", "quote", "header", "skip", "encoding") if o in options}
    found: list[Persons] = []
    try:
        if layout in ("basket", "spmf"):
            text = decoded(data, file.pop("encoding", "utf-8"))
            if layout == "spmf" or name.endswith(".dat"):
                return [spmf(text) if layout == "spmf" else fimi(text)]
            return [baskets(text, file.pop("delimiter", ","), **file)]
        possible = tables(data, name, **file)
    except Malformed:
        return []
    for t in possible:
        try:
            held = persons(t, id, item, layout, **options)
        except Malformed:
            continue
        if held not in found:
            found.append(held)
    return found
