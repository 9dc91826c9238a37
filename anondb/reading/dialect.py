"""Detects the dialect of a text file once, from its first lines; what is not certain is asked for."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from anondb.errors import InputError
from anondb.reading.options import MARKS, Dialect, Reading, named
from anondb.reading.shape import MAX_FIELD, Lines, marks_in, quoting, records

_SAMPLE = 1 << 16
_ROWS = 20  # that are compared with the first
_EMPTY = (None, "")  # a cell without a value
BY_SUFFIX = {".tsv": "\t", ".psv": "|", ".tree": ";"}
EXCEL_NOTE = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)


def sample_of(path: Path) -> str:
    """The first lines of a plain text file, complete; invalid bytes are replaced, since counting will refuse them."""
    with path.open("rb") as file:
        size, block = _SAMPLE, file.read(_SAMPLE)
        while len(block) == size and b"\n" not in block:
            block += file.read(size)
            size *= 2
        whole = not file.read(1)
    text = block.decode(errors="replace")
    return text if whole else text[: text.rfind("\n") + 1]


def utf16_of(sample: str) -> str | None:
    """The encoding of a text that was read as UTF-8, if every other byte of its first line is zero; else None."""
    first = sample.partition("\n")[0]
    return None if 4 * first.count("\0") <= len(first) else "utf-16-be" if first[0] == "\0" else "utf-16-le"


def sample_records(sample: str, delimiter: str, quote: str | None) -> list[list[str]]:
    """The records of a sample that are not empty; none if the dialect does not fit."""
    if len(delimiter) > 1:
        sample, delimiter = sample.replace(delimiter, "\x1f"), "\x1f"
    read: list[list[str]] = []
    limit = csv.field_size_limit(MAX_FIELD)
    try:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, quotechar=quote, quoting=quoting(quote))
        read.extend(record for record in reader if record)
    except csv.Error:
        return read[:1]
    finally:
        csv.field_size_limit(limit)
    return read


def detected_delimiter(sample: str, reading: Reading, suffix: str, name: str) -> tuple[str | None, float]:
    """The delimiter of a rectangular file, and the share of the sample's records that have as many fields as the first.
    Raises InputError: ``ambiguous_dialect``: two delimiters fit equally well."""
    by_suffix = BY_SUFFIX.get(suffix)
    marks = dict.fromkeys((*filter(None, [by_suffix]), *MARKS)) if reading.delimiter is None else [reading.delimiter]
    shares: dict[str, tuple[float, int]] = {}
    for delimiter in marks:
        read = sample_records(sample, delimiter, reading.quote_char)
        fields = len(read[0]) if read else 0
        if fields > 1:
            shares[delimiter] = (sum(len(record) == fields for record in read) / len(read), fields)
    if not shares:
        return reading.delimiter, 1.0
    best = by_suffix if by_suffix in shares else max(shares, key=shares.__getitem__)
    rivals = [other for other in shares if other != best and shares[other][0] == shares[best][0] == 1.0]
    if rivals and best != by_suffix:
        raise InputError(
            f"The fields of {name} may be separated by {named(best)} or by {named(rivals[0])}.",
            code="ambiguous_dialect",
            hint="Name the one with --delimiter.",
        )
    return best, shares[best][0]


def dialect_of(path: Path, reading: Reading, suffix: str, name: str) -> tuple[Dialect, tuple[str, ...]]:
    """The dialect of a plain text file with rectangular records, and the names of its columns. Raises InputError:
    ``ambiguous_dialect``; ``preamble``: the first line is Excel's note of a separator, or a title; ``column_clash``: two
    columns have one name; ``unreadable``, ``bad_unicode``."""
    sample = sample_of(path)
    if EXCEL_NOTE.match(sample):
        raise InputError(
            f"Line 1 of {name} is a note of its separator for Excel.",
            code="preamble",
            hint="Leave it out with --skip 1; if the separator is not detected then, name it with --delimiter.",
        )
    if sample[:1] in ("\r", "\n"):
        raise InputError(
            f"{name} cannot be read: line 1 is empty.", code="unreadable", hint="Leave empty lines out with --skip."
        )
    check_title(lines_above(path, sample, reading, suffix, name), name)
    delimiter, _ = detected_delimiter(sample, reading, suffix, name)
    header = reading.header is not False
    with Lines(path, delimiter) as lines:
        first = next((r for _, r in records(lines, Dialect(delimiter, reading.quote_char), name) if r), list[str]())
        dialect = Dialect(delimiter, reading.quote_char, lines.end or "\n", header)
    names = first if header else [""] * len(first)
    return dialect, distinct_names(names, name, f" (read as: {dialect.words})")


def lines_above(path: Path, sample: str, reading: Reading, suffix: str, name: str) -> int:
    """The lines above the header, such as a title: those without a delimiter, if all below have as many fields as the first
    of them, or those above the first row that is filled to its end. 0 if there are none, or the owner says where rows begin.
    Raises InputError: ``unreadable``, ``bad_unicode``, ``ambiguous_dialect``."""
    if reading.header is False or reading.skip is not None:
        return 0
    dialect = Dialect(detected_delimiter(sample, reading, suffix, name)[0], reading.quote_char)
    first = sample_records(sample, dialect.delimiter or MARKS[0], dialect.quote)[:1]
    if first and len(first[0]) > 1:
        with Lines(path, dialect.delimiter) as opened:
            return rows_above(islice(((n, r) for n, r in records(opened, dialect, name) if r), _ROWS + 1))
    lines, marks = sample.splitlines(keepends=True), MARKS if reading.delimiter is None else (reading.delimiter,)
    above = next((n for n, line in enumerate(lines[:_ROWS]) if any(mark in line for mark in marks)), 0)
    delimiter, share = detected_delimiter(rows := "".join(lines[above:]), reading, suffix, name)
    together = delimiter is not None and share == 1 and len(sample_records(rows, delimiter, dialect.quote)) > 1
    return above if together else 0


def rows_above(rows: Iterable[tuple[int, Sequence[Any]]]) -> int:
    """The number of lines above the first row that is filled to its end, if the first ends before it, as a title does; else
    0. The rows have their numbers in the file."""
    read = list(rows)
    if not read or read[0][1][-1] not in _EMPTY:
        return 0
    full = (number for number, row in read if len(row) == len(read[0][1]) and row[-1] not in _EMPTY)
    return next(full, 1) - 1


def check_title(lines: int, name: str) -> None:
    """Refuse lines above the header. Raises InputError: ``preamble``, with their number."""
    if lines:
        raise InputError(
            f"The first line of {name} has fewer names than the lines below have values: it may be a title.",
            code="preamble",
            hint=f"Leave out what comes before the header with --skip {lines}, of a file beside the transactions with"
            f" #skip={lines} behind its name. If it is the header, give all columns names, or add --skip 0.",
        )


def distinct_names(names: Sequence[str], name: str, how: str = "") -> tuple[str, ...]:
    """The names of columns, no two of which are equal but for their case; one without a name has that of its number. Raises
    InputError: ``column_clash``."""
    first: dict[str, int] = {}
    labels = [label or f"column{place}" for place, label in enumerate(names, 1)]
    for place, label in enumerate(labels, 1):
        if first.setdefault(label.lower(), place) != place:
            raise InputError(
                f"The columns {first[label.lower()]} and {place} of {name} have the same name{how}.",
                code="column_clash",
                hint="Rename one in the file; if its first line is data, add --no-header.",
            )
    return tuple(labels)


def basket_delimiter(path: Path, reading: Reading, name: str) -> str:
    """The delimiter of a file of baskets: the only one of the usual that occurs, else the blank. Raises InputError:
    ``ambiguous_dialect``."""
    if reading.delimiter is not None:
        return reading.delimiter
    occurring = marks_in(path)
    if len(occurring) > 1:
        raise InputError(
            f"The items of {name} may be separated by {' or by '.join(map(named, occurring))}.",
            code="ambiguous_dialect",
            hint="Name the one with --delimiter.",
        )
    return occurring[0] if occurring else " "
