"""Counts the records of a text file without DuckDB: a quoted line end belongs to its record, and all have equal fields. A
file is counted by its bytes. Where lines are empty or end differently, a quote stands within a field, or a record has
another length, Python's ``csv`` counts, and names the first line that differs."""

import csv
import hashlib
import re
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

import numpy as np

from anondb.engine.arrays import Words
from anondb.errors import InputError
from anondb.reading.formats import CHUNK, not_utf8
from anondb.reading.options import MARKS, Dialect

_BLOCK = 1 << 19
MAX_FIELD = 1 << 28
_UNIT = "\x1f"  # stands for a delimiter of several characters


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
    regular: bool  # whether no line is empty, and each quote begins a field, ends one or is doubled
    long_lines: bool  # whether a line may be longer than 1 MiB


def survey(path: Path, name: str, delimiter: str | None = None, quote: str | None = None) -> Survey:
    """Count the bytes that separate records and fields. Of each block, a bit for each byte says whether it is of a kind.
    Raises InputError: ``bad_unicode``, with the first line that is not UTF-8."""
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
            if not block.isascii() or decoder.getstate()[0]:
                _check_utf8(decoder, block, name, int(counts[0]))
            counted = (ends, ends & ~quoted, marks & ~quoted, backs, ends & after_back)
            counts += [int(np.bitwise_count(words).sum()) for words in counted]
            long_lines |= len(block) == _BLOCK and not ends.any()
            size, last = size + len(block), block[-2:]
    _check_utf8(decoder, b"", name, int(counts[0]), final=True)
    newlines, records, delimiters, returns, pairs = counts.tolist()
    open_end, one_end = not last.endswith(b"\n"), not returns or returns == pairs == newlines
    sizes = newlines + open_end, records + open_end, delimiters, returns > 0
    return Survey(digest.hexdigest(), size, *sizes, one_end, regular and not within, long_lines)


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


def _check_utf8(decoder: IncrementalDecoder, block: bytes, name: str, lines: int, final: bool = False) -> None:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError as error:
        raise not_utf8(name, error, lines) from None


def marks_in(path: Path) -> list[str]:
    """The usual delimiters that occur in a file, but for the blank."""
    return [mark for mark in MARKS if any(mark.encode() in chunk for chunk in chunks(path))]


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


def count_records(path: Path, dialect: Dialect, fields: int, name: str, seen: Survey) -> tuple[int, int, int]:
    """Count the records of a UTF-8 file that are not empty, with the header, the empty lines among them, and all lines. All
    must have as many ``fields`` as the first. Without a delimiter, none of the usual ones may stand outside quotes: it could
    begin a second column. What was ``seen`` in the file suffices where no record can have more fields unless another has
    fewer, which DuckDB refuses, as it does text after quotes. Raises InputError: ``unreadable`` with the line of the first
    record that has more or fewer fields, a quote that is never closed or stands beside text, or another line end."""
    if dialect.delimiter is None:
        for mark in marks_in(path) or MARKS[:1]:
            counts = counted(path, replace(dialect, delimiter=mark), fields, name)
        return counts
    known = seen.regular and seen.one_end and len(dialect.delimiter.encode()) <= 2 and fields > 1
    if known and seen.delimiters == seen.records * (fields - 1) and (seen.records == seen.lines or not seen.returns):
        return seen.records, 0, seen.lines
    return counted(path, dialect, fields, name)


# of a text file: the number of its first line, its fields (none of an empty line), and its lines as they stand in the file
Record = tuple[int, list[str], list[str]]


def end_of(line: str) -> str:
    """The end of a line."""
    return line[len(line.rstrip("\r\n")) :]


def tokenized(text: Iterable[str], delimiter: str | None, quote: str | None, *, strict: bool = False) -> Iterator[list[str]]:
    """The fields of each record of the lines of a text. Raises csv.Error."""
    several = delimiter if delimiter is not None and len(delimiter) > 1 else None
    mark = _UNIT if several is not None or delimiter is None else delimiter

    def of_one_mark(several: str) -> Iterator[str]:
        for line in text:
            if _UNIT in line:
                raise csv.Error("control character")
            yield line.replace(several, _UNIT)

    limit, lines = csv.field_size_limit(MAX_FIELD), text if several is None else of_one_mark(several)
    quoting: Literal[0, 3] = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
    try:
        for record in csv.reader(lines, delimiter=mark, quotechar=quote, quoting=quoting, strict=strict):
            yield record if several is None else [field.replace(_UNIT, several) for field in record]
    finally:
        csv.field_size_limit(limit)


def records(path: Path, dialect: Dialect, name: str) -> Iterator[Record]:
    """The records of a text file; what is not UTF-8 is replaced. Raises InputError: ``unreadable``, with the line."""
    first, lines = 1, list[str]()

    def noted(file: TextIO) -> Iterator[str]:
        for line in file:
            lines.append(line)
            yield line

    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            for record in tokenized(noted(file), dialect.delimiter, dialect.quote, strict=True):
                yield first, record, lines
                first, lines = first + len(lines), []
    except csv.Error as error:
        faults = {"unexpected end": f"the quote that opens in line {first} is never closed"}
        faults["new-line"] = f"line {first + len(lines) - 1} has another line break than the first"
        faults["control"] = f"line {first + len(lines) - 1} has the control character 31"
        what = next((words for part, words in faults.items() if part in str(error)), None)
        raise _uneven(name, dialect, what or f"line {first} has a field with text beside its quotes") from None


def counted(path: Path, dialect: Dialect, fields: int, name: str) -> tuple[int, int, int]:
    """Count the records as ``count_records`` does, but by ``csv``, which tells the line that is wrong."""
    filled = empty = number = 0
    for first, held, lines in records(path, dialect, name):
        filled, empty, number = filled + bool(held), empty + (not held), number + len(lines)
        if end_of(lines[-1]) not in ("", dialect.newline):
            raise _uneven(name, dialect, f"line {number} has another line break than the first")
        if held and len(held) != fields:
            what = f"line {first} has {len(held)} field{'s' * (len(held) != 1)}, the first record {fields}"
            raise _uneven(name, dialect, what)
        if _blanks_before_quote(held, "".join(lines), dialect):
            raise _uneven(name, dialect, f"line {first} has blanks before a quote")
    return filled, empty, number


def _blanks_before_quote(record: list[str], text: str, dialect: Dialect) -> bool:
    """Whether a field has blanks before the quote that opens it: DuckDB leaves them out, ``csv`` does not."""
    if dialect.quote is None or dialect.quote not in text:
        return False
    blanks = " \t".replace(dialect.delimiter or "\n", "")
    if not any(field[0] in blanks and dialect.quote in field for field in record if field):
        return False
    quote, start = re.escape(dialect.quote), f"(^|{re.escape(dialect.delimiter or _UNIT)})"
    unquoted = re.sub(f"{start}{quote}([^{quote}]|{quote}{quote})*{quote}", r"\1", text)
    return re.search(f"{start}[{blanks}]+{quote}", unquoted) is not None


def _uneven(name: str, dialect: Dialect, what: str) -> InputError:
    return InputError(
        f"{name} cannot be read: {what} (read as: {dialect.words}).",
        code="unreadable",
        hint="Mend the line, or say how the file is read: --delimiter, --quote, --skip, --no-header, or --layout basket if"
        " each line is a person's items. anondb peek FILE shows what it looks like.",
    )
