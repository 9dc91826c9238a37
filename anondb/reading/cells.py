"""Rows of JSON, Excel and SQLite files as text: each is rewritten as a plain CSV file, which is then read as any other."""

import datetime
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from decimal import Context, Decimal
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from anondb.engine.texts import quoted, sql
from anondb.errors import InputError
from anondb.reading.dialect import check_title, distinct_names, rows_above
from anondb.reading.formats import Format, encoded, not_utf8, plain_text
from anondb.reading.options import Reading

_UNUSABLE = {
    "object": "holds objects, or lists of lists",
    "bytes": "holds bytes, durations or other values that are no texts",
    "rounded": "holds numbers that were rounded: they have more than 15 digits",
}
_EXACT = Context(traps=[])  # a number beyond all limits is no error, and equal to no other
_LISTED = """
SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name
"""


class Number(str):
    """A number of a JSON file with the digits that it has there."""


class Texts:
    """The texts of values, and the columns that cannot be used because of them."""

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, str]] = {}
        self._numbers: dict[str, dict[Decimal, str]] = {}
        # for each such column, why: values have the same text or number but differ, or are no single values
        self.faults: dict[str, str] = {}

    def text(self, column: str, value: Any) -> str | None:
        """The text of a value; None is no value."""
        if value is None:
            return None
        kind, text = _kind_and_text(value)
        if kind == "list":
            for part in value:
                self.text(column, part)
        kinds = self._kinds.setdefault(column, {})
        if isinstance(value, Number) and text not in kinds:
            written = self._numbers.setdefault(column, {}).setdefault(Decimal(value, _EXACT), text)
            if written != text:
                self.faults.setdefault(column, "writes a number in two ways, such as 1 and 1.0")
        if kind in _UNUSABLE:
            self.faults[column] = _UNUSABLE[kind]
        elif kinds.setdefault(text, kind) != kind:
            self.faults.setdefault(column, "mixes types: values of different types have the same text, such as 1 and '1'")
        return text


def _kind_and_text(value: Any) -> tuple[str, str]:
    if isinstance(value, bool):
        return "boolean", str(value).lower()
    if isinstance(value, list):
        parts = [(None, None) if v is None else _kind_and_text(v) for v in value]
        nested = any(kind in ("list", *_UNUSABLE) for kind, _ in parts)
        return "object" if nested else "list", json.dumps([text for _, text in parts], ensure_ascii=False)
    if isinstance(value, dict):
        return "object", json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer():
        return ("number", str(int(value))) if abs(value) < 2**53 else ("rounded", str(value))
    if isinstance(value, int | float | Number):
        return "number", str(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return "date", value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return "date", value.isoformat(*([" "] if isinstance(value, datetime.datetime) else []))
    return ("text" if isinstance(value, str) else "bytes"), str(value)


def rows_of_json(path: Path, name: str) -> Iterator[Any]:
    """The values of a file of JSON: the elements of an array, or values one after another, such as one on each line. Raises
    InputError: ``bad_file`` with the line, also of a key that an object has twice; ``bad_unicode``."""
    at = 0
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise not_utf8(name, error) from None

    def refuse(_: Any = None, what: str = "is no JSON") -> NoReturn:
        line = text.count("\n", 0, at) + 1
        raise InputError(f"{name} cannot be read: line {line} {what}.", code="bad_file", hint="Mend the file.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            refuse(what="has an object with a key twice")
        return dict(pairs)

    decoder = json.JSONDecoder(object_pairs_hook=unique, parse_int=Number, parse_float=Number, parse_constant=refuse)

    def token() -> str:
        nonlocal at
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        return text[at : at + 1]

    array = token() == "["
    at += array
    while token() != "]" * array:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            refuse(what="is no JSON" if token() else "ends within its array")
        yield value
        if array and token() not in (",", "]"):
            refuse()
        at += array and text[at] == ","
    at += array
    if token():
        refuse()


def rewritten(
    path: Path, form: Format, reading: Reading, private: Path, name: str
) -> tuple[Path, tuple[str, ...], int, dict[str, str]]:
    """Write the rows of a JSON, Excel or SQLite file as plain CSV; return the file, its columns, the number of its rows, and
    the columns that cannot be used, with the reason. Raises InputError: ``bad_file``, ``bad_unicode``, ``no_such_table``,
    ``missing_extra``, ``several_sheets``."""
    texts = Texts()
    if form.name == "json":
        rows = _rows_of_objects(plain_text(path, form, encoded(path, form, reading), private, name), name)
    else:
        of_table = form.name == "sqlite"
        rows = rows_of_table(path, name, reading.file_table) if of_table else _rows_of_sheet(path, reading, name)
    columns, number = distinct_names(next(rows), name), 0
    target = private / f"{len(list(private.iterdir()))}.csv"
    with target.open("x", encoding="utf-8", newline="") as file:
        for row in rows:
            cells = (texts.text(column, value) for column, value in zip(columns, row, strict=True))
            try:
                file.write(",".join("" if t is None else '"' + t.replace('"', '""') + '"' for t in cells) + "\n")
            except UnicodeEncodeError:
                words = f"{name} holds a text that is not valid Unicode (a lone surrogate)."
                raise InputError(words, code="bad_unicode") from None
            number += 1
    return target, columns, number, texts.faults


def _rows_of_objects(path: Path, name: str) -> Iterator[Sequence[Any]]:
    """The keys of the objects of a JSON file, and their values."""
    keys: dict[str, None] = {}
    for row in rows_of_json(path, name):
        if not isinstance(row, dict):
            hint = 'Write a row as {"tid": 1, "item": "milk"}.'
            raise InputError(f"The rows of {name} are no objects.", code="bad_file", hint=hint)
        keys |= dict.fromkeys(row)
    yield list(keys)
    yield from ([row.get(key) for key in keys] for row in rows_of_json(path, name))


def _cells(book: Any, title: str | None) -> list[list[list[Any]]]:
    """The cells of each sheet, or of those with a title, whatever the file says of their range."""
    sheets = [sheet for sheet in book.worksheets if title is None or sheet.title.lower() == title.lower()]
    for sheet in sheets:
        sheet.reset_dimensions()
    cells = [[list(row) for row in sheet.iter_rows(values_only=True)] for sheet in sheets]
    book.close()
    return cells


def _rows_of_sheet(path: Path, reading: Reading, name: str) -> Iterator[Sequence[Any]]:
    """The names of the columns of a sheet of an Excel file, by default the only one that has cells, and its rows."""
    title = reading.file_table
    try:
        import openpyxl
    except ImportError:
        hint = "Install anondb[excel], or save it as CSV."
        raise InputError(f"{name} needs the package openpyxl.", code="missing_extra", hint=hint) from None
    try:
        books = (openpyxl.load_workbook(path, read_only=True, data_only=plain) for plain in (True, False))
        sheets, formulas = (_cells(book, title) for book in books)
    except Exception:  # whatever a damaged file makes it raise
        raise InputError(f"{name} is damaged.", code="unreadable") from None
    for rows_of_both in zip(sheets, formulas, strict=True):
        for number, row in enumerate(zip(*rows_of_both, strict=True), 1):
            if any(value is None and written is not None for value, written in zip(*row, strict=True)):
                words = f"{name} cannot be read: row {number} has a formula without its value."
                hint = "Open it in the program that made it, and save it again, or save it as CSV."
                raise InputError(words, code="unreadable", hint=hint)
    numbered = [list(enumerate(rows, 1))[reading.skip or 0 :] for rows in sheets]
    filled = [kept for rows in numbered if (kept := [row for row in rows if any(cell is not None for cell in row[1])])]
    if len(filled) > 1:
        hint = "Name one with --file-table SHEET."
        raise InputError(f"{len(filled)} sheets of {name} have cells.", code="several_sheets", hint=hint)
    if title is not None and not sheets:
        raise InputError(f"{name} has no sheet {title!r}.", code="no_such_table", hint="Name one with --file-table SHEET.")
    (kept,) = filled or ([],)
    width = max((len(row) for _, row in kept), default=0)
    placed = [(number, row + [None] * (width - len(row))) for number, row in kept]
    rows = [row for _, row in placed]
    if reading.header is not False and reading.skip is None:
        check_title(rows_above(placed[:21]), name)
    header = rows.pop(0) if rows and reading.header is not False else [None] * width
    yield [_kind_and_text(h)[1] if h is not None else f"column{i}" for i, h in enumerate(header, 1)]
    yield from rows


def rows_of_table(path: Path, name: str, table: str | None) -> Iterator[Sequence[Any]]:
    """The names of the columns of a table of a SQLite file, by default the only one, and its rows; the file is opened
    read-only, by Python's own library, since DuckDB's extension would have to be downloaded. Raises InputError:
    ``no_such_table``; ``unreadable``: it is damaged."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as connection:
            names = [row[0] for row in connection.execute(_LISTED)]
            chosen = [n for n in names if table is None or n.lower() == table.lower()]
            if len(chosen) == 1:
                rows = connection.execute(sql("SELECT * FROM {}", quoted(chosen[0])))
                yield [column[0] for column in rows.description]
                yield from rows
                return
    except sqlite3.Error:
        raise InputError(f"{name} cannot be read as a SQLite file.", code="unreadable") from None
    words = f"{name} has no table {table!r}." if table is not None else f"{name} has {len(names)} tables and views."
    raise InputError(words, code="no_such_table", hint="Name one with --file-table TABLE.")
