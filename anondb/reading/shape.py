"""Counts the records of a text file without DuckDB: a quoted line end belongs to its record, and all have equal fields. A
file is counted by its bytes. Where lines are empty or end differently, a quote stands within a field, or a record has
another length, Python's ``csv`` counts, and names the first line that differs."""

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

from anondb.engine.arrays import Words
from anondb.errors import InputError
from anondb.reading.formats import CHUNK, not_utf8
from anondb.reading.options import MARKS, Dialect

_BLOCK = 1 << 19
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
    """What one pass over the bytes of a file finds."""

    # sha256, bytes: its digest and its size
    sha256: str
    bytes: int
    lines: int  # all lines
    # records, delimiters: the lines that do not end within quotes, and the delimiters outside quotes
    records: int
    delimiters: int
    returns: bool  # whether it has carriage returns
    one_end: bool  # whether all lines end alike, and no carriage return stands elsewhere
    regular: bool  # whether it is UTF-8, no line is empty, and each quote begins a field, ends one or is doubled
    long_lines: bool  # whether a line may be longer than 1 MiB


def survey(path: Path, delimiter: str | None, quote: str | None) -> Survey:
    """Count the bytes that separate records and fields. Of each block, a bit for each byte says whether it is of a kind."""
    digest, decoder = hashlib.sha256(), getincrementaldecoder("utf-8")()
    kinds = [(kind or "").encode() for kind in ("\n", delimiter, quote, "\r")]
    counts, size, last = np.zeros(5, np.int64), 0, b"\n"
    regular, long_lines, within = True, False, False
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            ends, marks, quotes, backs = bits = [_bits(block, kind, last) for kind in kinds]
            after_end, after_mark, after_quote, after_back = (
                _next(b, bool(k) and last.endswith(k)) for b, k in zip(bits, kinds, strict=True)
            )
            begun, quoted, within = _quoted(quotes, within)
            odd_quotes = begun & ~(after_end | after_mark | after_quote)
            regular = regular and not (odd_quotes | ((ends | backs) & after_end)).any()
            regular = regular and ((block.isascii() and not decoder.getstate()[0]) or _decodes(decoder, block))
            counted = (ends, ends & ~quoted, marks & ~quoted, backs, ends & after_back)
            counts += [int(np.bitwise_count(words).sum()) for words in counted]
            long_lines |= len(block) == _BLOCK and not ends.any()
            size, last = size + len(block), block[-2:]
    regular = regular and not within and _decodes(decoder, b"", final=True)
    newlines, records, delimiters, returns, pairs = counts.tolist()
    open_end, one_end = not last.endswith(b"\n"), not returns or returns == pairs == newlines
    sizes = newlines + open_end, records + open_end, delimiters, returns > 0
    return Survey(digest.hexdigest(), size, *sizes, one_end, regular, long_lines)


def _bits(block: bytes, kind: bytes, last: bytes) -> Words:
    """A bit for each byte of a block, 64 in a word: whether it ends a mark of one byte or two; ``last`` are those before."""
    if len(kind) == 2:
        return _bits(block, kind[1:], last) & _next(_bits(block, kind[:1], last), last.endswith(kind[:1]))
    bits = np.zeros(-(-len(block) // 64), np.uint64)
    if len(kind) == 1 and kind in block:
        packed = np.packbits(np.frombuffer(block, np.uint8) == kind[0], bitorder="little")
        bits.view(np.uint8)[: len(packed)] = packed
    return bits


def _next(bits: Words, first: bool) -> Words:
    """Which bytes follow one that is marked; ``first`` says it of the first byte."""
    if not first and not bits.any():
        return bits
    after = bits << np.uint64(1)
    after[1:] |= bits[:-1] >> np.uint64(63)
    after[0] |= np.uint64(first)
    return after


def _quoted(quotes: Words, within: bool) -> tuple[Words, Words, bool]:
    """Which quotes open, which bytes stand within quotes, and whether the block ends there: after an odd number of them."""
    if not within and not quotes.any():
        return quotes, quotes, False
    quoted = quotes.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        quoted ^= quoted << np.uint64(shift)
    odd = np.bitwise_count(quotes) & 1
    ahead = np.bitwise_xor.accumulate(odd)
    quoted ^= np.where(ahead ^ odd ^ within, ~np.uint64(0), np.uint64(0))
    return quotes & quoted, quoted, bool(ahead[-1]) ^ within


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
            if cut := block.rfind(b"\n") + 1:
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
        seen: what ``survey`` counted in it. Where no record can have more fields unless another has fewer, which DuckDB
            refuses, its counts suffice. Text after quotes is DuckDB's to refuse, too.

    Raises:
        InputError: ``unreadable`` with the line of the first record that has more or fewer fields, a quote that is never
            closed or stands beside text, or another line end; ``bad_unicode``.
    """
    if dialect.delimiter is None:
        for mark in marks_in(path) or MARKS[:1]:
            shape = counted(path, replace(dialect, delimiter=mark), fields, name)
        return shape
    known = seen.regular and seen.one_end and len(dialect.delimiter.encode()) <= 2 and fields > 1
    if known and seen.delimiters == seen.records * (fields - 1) and (seen.records == seen.lines or not seen.returns):
        return Shape(seen.records, 0, seen.lines)
    return counted(path, dialect, fields, name)


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
            yield first, record if not several else [field.replace(_UNIT, str(dialect.delimiter)) for field in record]
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
    blanks = " \t".replace(dialect.delimiter or "\n", "")
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
