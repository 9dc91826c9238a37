"""Counts the records of a text file without DuckDB: a quoted line end belongs to its record, and all have equal fields.

A file without quotes is counted by its bytes, a large one with quotes by Arrow. Small ones, and those in which a blank
stands before a quote, lines are empty or end differently, or a record has another length, are counted by Python's ``csv``,
which names the first line that differs.
"""

import contextlib
import csv
import hashlib
import re
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from anondb.errors import InputError
from anondb.reading.options import MARKS, Dialect

CHUNK = 1 << 20
_BLOCK = 1 << 18
LARGE = 1 << 20  # bytes above which importing Arrow pays
MAX_FIELD = 1 << 28
_UNIT = "\x1f"  # stands for a delimiter of several characters


@dataclass(frozen=True)
class Shape:
    """The size of a text file."""

    records: int  # records that are not empty, the header included
    empty: int  # empty lines between records
    lines: int  # all lines


@dataclass(frozen=True)
class Survey:
    """What one pass over a file finds."""

    # sha256, bytes: its digest and its size
    sha256: str
    bytes: int
    # newlines, delimiters, quotes, returns: how many bytes of each kind it has
    newlines: int
    delimiters: int
    quotes: int
    returns: int
    pairs: int  # how many of the returns stand before a newline
    utf8: bool  # whether it is UTF-8
    open_end: bool  # whether its last line has no end
    long_lines: bool  # whether a line may be longer than 512 KiB
    unusual: bool  # whether a blank stands before a quote, or a line is empty

    @property
    def one_end(self) -> bool:
        """Whether all lines end alike: no carriage return stands elsewhere than in the end of a line, nor lacks there."""
        return not self.returns or self.returns == self.pairs == self.newlines

    @property
    def lines(self) -> int:
        """The number of lines."""
        return self.newlines + self.open_end


def survey(path: Path, delimiter: str | None, quote: str | None) -> Survey:
    """Count bytes of a file, in blocks that fit into the cache of a processor; each has the last byte of the one before."""
    kinds = ["\n", *(m if m and len(m.encode()) == 1 else None for m in (delimiter, quote)), "\r"]
    counts, digest, size, last, pairs = [0] * len(kinds), hashlib.sha256(), 0, b"\n", 0
    utf8, long_lines, unusual, decoder = True, False, False, getincrementaldecoder("utf-8")()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            part = np.frombuffer(last + block, dtype=np.uint8)
            digest.update(block)
            masks = [part == ord(kind) if kind else np.zeros(len(part), np.bool_) for kind in kinds]
            more = [int(np.count_nonzero(mask[1:])) for mask in masks]
            counts = [count + number for count, number in zip(counts, more, strict=True)]
            newline, _, quoted, back = masks
            unusual = unusual or bool((newline[:-1] & (newline | back)[1:]).any())
            for blank in _blanks(delimiter) if more[2] else ():
                unusual = unusual or bool(((part == ord(blank))[:-1] & quoted[1:]).any())
            pairs += int(np.count_nonzero(back[:-1] & newline[1:])) if counts[3] else 0
            long_lines |= not more[0] and len(block) == _BLOCK
            if utf8 and (part.max() > 127 or decoder.getstate()[0]):
                utf8 = _decodes(decoder, block)
            size, last = size + len(block), block[-1:]
    whole = utf8 and _decodes(decoder, b"", final=True)
    newlines, delimiters, quotes, returns = counts
    open_end = last != b"\n"
    return Survey(
        digest.hexdigest(), size, newlines, delimiters, quotes, returns, pairs, whole, open_end, long_lines, unusual
    )


def _blanks(delimiter: str | None) -> str:
    """The characters before a quote that DuckDB leaves out."""
    return " \t".replace(delimiter or "\n", "")


def _decodes(decoder: IncrementalDecoder, part: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(part, final)
    except UnicodeDecodeError:
        return False
    return True


def lines_of(path: Path) -> int:
    """The number of lines of a file."""
    return sum(chunk.count(b"\n") + (not chunk.endswith(b"\n")) for chunk in chunks(path))


def marks_in(path: Path) -> list[str]:
    """The usual delimiters that occur in a file, but for the blank."""
    return [mark for mark in MARKS if any(mark.encode() in chunk for chunk in chunks(path))]


def first_invalid(path: Path) -> int:
    """The number of the first line that is not UTF-8; 0 if all are."""
    with path.open("rb") as file:
        valid = (_decodes(getincrementaldecoder("utf-8")(), line, final=True) for line in file)
        return next((number for number, is_valid in enumerate(valid, 1) if not is_valid), 0)


def chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes of a file in chunks that end with a line, but for the last."""
    with path.open("rb") as file:
        rest = b""
        while block := file.read(size):
            cut = block.rfind(b"\n") + 1
            if cut:
                yield rest + block[:cut]
                rest = block[cut:]
            else:
                rest += block
        if rest:
            yield rest


def count_records(path: Path, dialect: Dialect, fields: int, name: str, seen: Survey) -> Shape:
    """Count the records of a UTF-8 file, all of which must have the same number of fields. Without a delimiter, none of the
    usual ones may stand outside quotes: it could begin a second column.

    Args:
        path: the file, without a byte order mark.
        fields: the number of fields of its first record.
        name: its name in messages.
        seen: what ``survey`` counted in it. If there are no quotes, and no record can have more fields unless DuckDB refuses
            another that has fewer, its counts suffice. Text beside quotes is DuckDB's to refuse.

    Raises:
        InputError: ``unreadable`` with the line of the first record that has more or fewer fields, a quote that is never
            closed or stands beside text, or another line end; ``bad_unicode``.
    """
    if dialect.delimiter is None:
        for mark in marks_in(path) or MARKS[:1]:
            shape = counted(path, replace(dialect, delimiter=mark), fields, name)
        return shape
    certain = seen.utf8 and seen.one_end and not seen.unusual and len(dialect.delimiter.encode()) == 1 < fields
    if certain and not seen.quotes and seen.delimiters == seen.lines * (fields - 1):
        return Shape(seen.lines, 0, seen.lines)
    if certain and seen.bytes > LARGE and not seen.quotes % 2:
        number = _by_arrow(path, dialect, fields)
        if number is not None and (number == seen.lines or not seen.returns):
            return Shape(number, 0, seen.lines)
    return counted(path, dialect, fields, name)


def _by_arrow(path: Path, dialect: Dialect, fields: int) -> int | None:
    """The number of records of a file without empty lines; None if one has another number of fields."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    how = arrow.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=[str(i) for i in range(fields)])
    parse = arrow.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote or False, newlines_in_values=True)
    nothing = arrow.ConvertOptions(include_columns=["none"], include_missing_columns=True)  # no value is converted
    try:
        with arrow.open_csv(path, how, parse, nothing) as batches:
            return sum(int(batch.num_rows) for batch in batches)
    except pa.ArrowInvalid:
        return None


class Lines(contextlib.AbstractContextManager["Lines"]):
    """The lines of a text file, with their ends, for ``csv``; a context that closes the file."""

    def __init__(self, path: Path, delimiter: str | None) -> None:
        self.path = path  # the file
        self._file = path.open(encoding="utf-8", newline="")
        self._several = delimiter if delimiter is not None and len(delimiter) > 1 else None
        self.number = 0  # the number of lines that were read
        self._record: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.number += 1
            self._record.append(line)
            if self._several is not None and _UNIT in line:
                raise csv.Error("control character")
            yield line if self._several is None else line.replace(self._several, _UNIT)

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def next_record(self) -> int:
        """Forget the lines of the record that was read. Returns the number of the next line."""
        self._record.clear()
        return self.number + 1

    @property
    def text(self) -> str:
        """The record that was read, as it stands in the file."""
        return "".join(self._record)

    @property
    def end(self) -> str:
        """The end of the last line."""
        last = self._record[-1] if self._record else ""
        return last[len(last.rstrip("\r\n")) :]


def quoting(quote: str | None) -> Literal[0, 3]:
    """How ``csv`` is told whether a file has quotes."""
    return csv.QUOTE_MINIMAL if quote is not None else csv.QUOTE_NONE


def records(lines: Lines, dialect: Dialect, name: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the number of its first line; an empty line is a record without fields. Raises InputError:
    ``unreadable`` or ``bad_unicode``, with the line."""
    several = dialect.delimiter is not None and len(dialect.delimiter) > 1
    delimiter = _UNIT if several or dialect.delimiter is None else dialect.delimiter
    limit = csv.field_size_limit(MAX_FIELD)
    first = 1
    try:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=dialect.quote, quoting=quoting(dialect.quote), strict=True)
        for record in reader:
            yield first, record
            first = lines.next_record()
    except csv.Error as error:
        raise _uneven(name, dialect, _fault(str(error), first, lines.number)) from None
    except UnicodeDecodeError:
        raise not_utf8(name, first_invalid(lines.path)) from None
    finally:
        csv.field_size_limit(limit)


def counted(path: Path, dialect: Dialect, fields: int, name: str) -> Shape:
    """Count the records as ``count_records`` does, but by ``csv``, which tells the line that is wrong."""
    filled = empty = 0
    with Lines(path, dialect.delimiter) as lines:
        for first, record in records(lines, dialect, name):
            if lines.end not in ("", dialect.newline):
                raise _uneven(name, dialect, f"line {lines.number} has another line break than the first")
            if not record:
                empty += 1
                continue
            filled += 1
            if len(record) != fields:
                what = f"line {first} has {len(record)} field{'s' * (len(record) != 1)}, the first record {fields}"
                raise _uneven(name, dialect, what)
            if _blanks_before_quote(record, lines.text, dialect):
                raise _uneven(name, dialect, f"line {first} has blanks before a quote")
        return Shape(filled, empty, lines.number)


def _blanks_before_quote(record: list[str], text: str, dialect: Dialect) -> bool:
    """Whether a field has blanks before the quote that opens it: DuckDB leaves them out, ``csv`` does not."""
    blanks = _blanks(dialect.delimiter)
    if dialect.quote is None or not any(field[0] in blanks and dialect.quote in field for field in record if field):
        return False
    quote, start = re.escape(dialect.quote), f"(^|{re.escape(dialect.delimiter or _UNIT)})"
    unquoted = re.sub(f"{start}{quote}([^{quote}]|{quote}{quote})*{quote}", r"\1", text)
    return re.search(f"{start}[{blanks}]+{quote}", unquoted) is not None


def _fault(error: str, first: int, last: int) -> str:
    """What ``csv`` refuses, in words."""
    if "unexpected end" in error:
        return f"the quote that opens in line {first} is never closed"
    if "new-line" in error:
        return f"line {last} has another line break than the first"
    if "control" in error:
        return f"line {last} has the control character 31"
    return f"line {first} has a field with text beside its quotes"


def _uneven(name: str, dialect: Dialect, what: str) -> InputError:
    return InputError(
        f"{name} cannot be read: {what} (read as: {dialect.words}).",
        code="unreadable",
        hint="Mend the line, or say how the file is read: --delimiter, --quote, --skip, --no-header, or --layout basket if"
        " each line is a person's items. anondb peek FILE shows what it looks like.",
    )


def not_utf8(name: str, line: int, encoding: str | None = None) -> InputError:
    """The error for a text file in another encoding than is said."""
    return InputError(
        f"{name} is not valid {encoding or 'UTF-8'}: line {line} is not.",
        code="bad_unicode",
        hint="Name its encoding, such as --encoding latin-1, or utf-16 if its first two bytes are FF FE or FE FF.",
    )
