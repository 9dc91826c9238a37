"""Counts the records of a text file without DuckDB: a quoted line end belongs to its record, and all have equal fields.

A file without quotes is counted by its bytes, one with quotes by a scan that tells which bytes they enclose. Where quotes
stand elsewhere than around whole fields, lines are empty or end differently, or a record has another length, Python's
``csv`` counts, and names the first line that differs.
"""

from __future__ import annotations

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
import numpy.typing as npt

from anondb.errors import InputError
from anondb.reading.options import Dialect

CHUNK = 1 << 20
_BLOCK = 1 << 18
MAX_FIELD = 1 << 28
_UNIT = "\x1f"  # stands for a delimiter of several characters
USUAL = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Shape:
    """The size of a text file.

    Attributes:
        records: records that are not empty, the header included.
        empty: empty lines between records.
        lines: all lines.
    """

    records: int
    empty: int
    lines: int


@dataclass(frozen=True)
class Survey:
    """What one pass over a file finds.

    Attributes:
        sha256, bytes: its digest and its size.
        newlines, delimiters, quotes, returns: how many bytes of each kind it has.
        utf8: whether it is UTF-8.
        open_end: whether its last line has no end.
        long_lines: whether a line may be longer than 512 KiB.
    """

    sha256: str
    bytes: int
    newlines: int
    delimiters: int
    quotes: int
    returns: int
    utf8: bool
    open_end: bool
    long_lines: bool


def survey(path: Path, delimiter: str | None, quote: str | None) -> Survey:
    """Count bytes of a file, in blocks that fit into the cache of a processor."""
    kinds = [
        ord("\n"),
        *(ord(mark) if mark and len(mark.encode()) == 1 else -1 for mark in (delimiter, quote)),
        ord("\r"),
    ]
    counts, digest, size, last = [0] * len(kinds), hashlib.sha256(), 0, ord("\n")
    utf8, long_lines, decoder = True, False, getincrementaldecoder("utf-8")()
    block = bytearray(_BLOCK)
    with path.open("rb", buffering=0) as file:
        while read := file.readinto(block):
            part = np.frombuffer(block, dtype=np.uint8, count=read)
            digest.update(memoryview(block)[:read])
            found = [int(np.count_nonzero(part == kind)) if kind >= 0 else 0 for kind in kinds]
            counts = [count + more for count, more in zip(counts, found, strict=True)]
            long_lines |= not found[0] and read == _BLOCK
            if utf8 and (part.max() > 127 or decoder.getstate()[0]):
                utf8 = _decodes(decoder, part.tobytes())
            size, last = size + read, block[read - 1]
    newlines, delimiters, quotes, returns = counts
    whole = utf8 and _decodes(decoder, b"", final=True)
    open_end = last != ord("\n")
    return Survey(digest.hexdigest(), size, newlines, delimiters, quotes, returns, whole, open_end, long_lines)


def _decodes(decoder: IncrementalDecoder, part: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(part, final)
    except UnicodeDecodeError:
        return False
    return True


class Scan:
    """Counts the records of a file from its bytes, chunk by chunk; each chunk but the last ends with a line."""

    def __init__(self, dialect: Dialect, fields: int) -> None:
        delimiter, quote = (dialect.delimiter or "\n").encode(), (dialect.quote or "\n").encode()
        self.certain = len(delimiter) == len(quote) == 1 and dialect.newline != "\r" and fields > 1
        self._crlf = dialect.newline == "\r\n"
        self._delimiter, self._quote = delimiter[0], quote[0] if dialect.quote else None
        kept = delimiter + b"\n" + (quote if dialect.quote else b"")
        self._dropped = bytes(c for c in range(256) if c not in kept)
        self._borders = np.zeros(256, dtype=np.bool_)
        self._borders[[*delimiter, *quote, *b"\r\n"]] = True
        self._wanted = fields - 1
        self._inside = False  # whether the chunk before ends within quotes
        self._delimiters = 0  # of the record that the chunk before did not end
        self.records = 0
        self.lines = 0

    def add(self, chunk: bytes) -> None:
        """Count a chunk; ``certain`` becomes False if the scan cannot tell."""
        if not self.certain:
            return
        ends = chunk.count(b"\n")
        self.lines += ends + (not chunk.endswith(b"\n"))
        self.certain = _is_utf8(chunk)
        self.certain &= chunk.count(b"\r\n") == chunk.count(b"\r") == ends if self._crlf else b"\r" not in chunk
        marks = np.frombuffer(chunk.translate(None, self._dropped), dtype=np.uint8)
        if self._quote is not None and (self._inside or self._quote in chunk):
            self.certain &= self._whole_fields(np.frombuffer(chunk, dtype=np.uint8))
            quotes = marks == self._quote
            inside = np.bitwise_xor.accumulate(quotes) ^ self._inside
            self._inside = bool(inside[-1]) if len(inside) else self._inside
            marks = marks[~inside & ~quotes]
        record_ends = np.flatnonzero(marks == ord("\n"))
        if not chunk.endswith(b"\n"):
            record_ends = np.append(record_ends, len(marks))
        if not len(record_ends):
            self._delimiters += len(marks)
            return
        counts = np.diff(record_ends, prepend=-1) - 1
        counts[0] += self._delimiters
        self._delimiters = len(marks) - int(record_ends[-1]) - 1 if chunk.endswith(b"\n") else 0
        self.certain &= bool((counts == self._wanted).all())
        self.records += len(counts)

    def _whole_fields(self, chunk: npt.NDArray[np.uint8]) -> bool:
        """Whether each quote of a chunk stands at the end of a field, or beside another quote."""
        places = np.flatnonzero(chunk == self._quote)
        opening = (np.arange(len(places)) % 2 == 0) != self._inside
        beside = np.full(len(chunk) + 2, ord("\n"), dtype=np.uint8)
        beside[1:-1] = chunk
        neighbour = np.where(opening, beside[places], beside[places + 2])
        return bool(self._borders[neighbour].all())

    @property
    def complete(self) -> bool:
        """Whether all chunks were counted, and the last record is complete."""
        return self.certain and not self._inside


def lines_of(path: Path) -> int:
    """The number of lines of a file."""
    return sum(chunk.count(b"\n") + (not chunk.endswith(b"\n")) for chunk in chunks(path))


def first_invalid(path: Path) -> int:
    """The number of the first line that is not UTF-8; 0 if all are."""
    with path.open("rb") as file:
        return next((number for number, line in enumerate(file, 1) if not _is_utf8(line)), 0)


def _is_utf8(chunk: bytes) -> bool:
    try:
        return chunk.isascii() or bool(chunk.decode())
    except UnicodeDecodeError:
        return False


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
        dialect: its dialect.
        fields: the number of fields of its first record.
        name: its name in messages.
        seen: what ``survey`` found in it. If there are no quotes, and no record can have more fields unless DuckDB refuses
            another that has fewer, its counts suffice.

    Raises:
        InputError: ``unreadable`` with the line of the first record that has more or fewer fields, a quote that is never
            closed or stands beside text, or another line end; ``bad_unicode``.
    """
    if dialect.delimiter is None:
        for usual in USUAL:
            shape = _counted(path, replace(dialect, delimiter=usual), fields, name)
        return shape
    number = seen.newlines + seen.open_end
    simple = not seen.quotes and not seen.returns and seen.utf8 and len(dialect.delimiter.encode()) == 1
    if simple and fields > 1 and seen.delimiters == number * (fields - 1):
        return Shape(number, 0, number)
    scan = Scan(dialect, fields)
    for chunk in chunks(path, _BLOCK):
        scan.add(chunk)
        if not scan.certain:
            return _counted(path, dialect, fields, name)
    return Shape(scan.records, 0, scan.lines) if scan.complete else _counted(path, dialect, fields, name)


class Lines(contextlib.AbstractContextManager["Lines"]):
    """The lines of a text file, with their ends, for ``csv``; a context that closes the file.

    Attributes:
        path: the file.
        number: the number of lines that were read.
        last: the last of them.
    """

    def __init__(self, path: Path, delimiter: str | None) -> None:
        self.path = path
        self._file = path.open(encoding="utf-8", newline="")
        self._several = delimiter if delimiter is not None and len(delimiter) > 1 else None
        self.number = 0
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.number += 1
            self.last = line
            if self._several is not None and _UNIT in line:
                raise csv.Error("control character")
            yield line if self._several is None else line.replace(self._several, _UNIT)

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    @property
    def end(self) -> str:
        """The end of the last line."""
        return self.last[len(self.last.rstrip("\r\n")) :]


def quoting(quote: str | None) -> Literal[0, 3]:
    """How ``csv`` is told whether a file has quotes."""
    return csv.QUOTE_MINIMAL if quote is not None else csv.QUOTE_NONE


def records(lines: Lines, dialect: Dialect, name: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the number of its first line; an empty line is a record without fields.

    Raises:
        InputError: ``unreadable`` or ``bad_unicode``, with the line.
    """
    several = dialect.delimiter is not None and len(dialect.delimiter) > 1
    delimiter = _UNIT if several or dialect.delimiter is None else dialect.delimiter
    limit = csv.field_size_limit(MAX_FIELD)
    first = 1
    try:
        reader = csv.reader(
            lines, delimiter=delimiter, quotechar=dialect.quote, quoting=quoting(dialect.quote), strict=True
        )
        for record in reader:
            yield first, record
            first = lines.number + 1
    except csv.Error as error:
        raise _uneven(name, dialect, _fault(str(error), first, lines.number)) from None
    except UnicodeDecodeError:
        raise not_utf8(name, first_invalid(lines.path)) from None
    finally:
        csv.field_size_limit(limit)


def _counted(path: Path, dialect: Dialect, fields: int, name: str) -> Shape:
    """Count the records by ``csv``."""
    found = empty = 0
    with Lines(path, dialect.delimiter) as lines:
        for first, record in records(lines, dialect, name):
            if lines.end not in ("", dialect.newline):
                raise _uneven(name, dialect, f"line {lines.number} ends otherwise than the first")
            if not record:
                empty += 1
                continue
            found += 1
            if len(record) != fields:
                what = f"line {first} has {len(record)} field{'s' * (len(record) != 1)}, the first record {fields}"
                raise _uneven(name, dialect, what)
            if _blanks_before_quote(record, lines.last, dialect):
                raise _uneven(name, dialect, f"line {first} has blanks before a quote")
        return Shape(found, empty, lines.number)


def _blanks_before_quote(record: list[str], line: str, dialect: Dialect) -> bool:
    """Whether a field of a record has blanks before the quote that opens it: DuckDB leaves them out, ``csv`` does not."""
    if dialect.quote is None or not any(field[:1] in " \t" and dialect.quote in field for field in record if field):
        return False
    before = rf"(?:^|{re.escape(dialect.delimiter or _UNIT)})[ \t]+{re.escape(dialect.quote)}"
    return re.search(before, line) is not None


def _fault(error: str, first: int, last: int) -> str:
    """What ``csv`` refuses, in words."""
    if "unexpected end" in error:
        return f"the quote that opens in line {first} is never closed"
    if "new-line" in error:
        return f"line {last} ends otherwise than the first"
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
