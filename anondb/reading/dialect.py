"""Detects the dialect of a text file once, from its first lines; what is not certain is asked for. Reads files in which a
line is what one person has: baskets, FIMI's .dat files, and those of SPMF."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from anondb.errors import InputError
from anondb.reading.options import MARKS, Dialect, Reading, named
from anondb.reading.shape import chunks, end_of, marks_in, records, tokenized

_SAMPLE = 1 << 16
_ROWS = 20  # that are compared with the first
_EMPTY = (None, "")  # a cell without a value
BY_SUFFIX = {".tsv": "\t", ".psv": "|", ".tree": ";"}
ITEM_END, LINE_END = "\x1f", "\x1e"  # of the plain form of baskets
_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_SPMF_LINE = re.compile(r"(@CONVERTED_FROM_TEXT|@ITEM=)|(-?\d+ )+-1 -2\s*$")
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


def wide_encoding_of(sample: str) -> str | None:
    """The encoding of a text that was read as UTF-8, if the zero bytes of its first line show that characters have two bytes
    or four; else None."""
    first = sample.partition("\n")[0]
    zeros, end = 8 * first.count("\0"), "be" if first[:1] == "\0" else "le"
    return None if zeros <= 2 * len(first) else f"utf-16-{end}" if zeros <= 5 * len(first) else f"utf-32-{end}"


def sample_records(sample: str, delimiter: str, quote: str | None) -> list[list[str]]:
    """The records of a sample that are not empty; none if the dialect does not fit."""
    read: list[list[str]] = []
    try:
        read.extend(filter(None, tokenized(io.StringIO(sample, newline=""), delimiter, quote)))
    except csv.Error:
        return read[:1]
    return read


def detected_delimiter(sample: str, reading: Reading, suffix: str, name: str) -> tuple[str | None, float]:
    """The delimiter of a rectangular file, and the share of the sample's records that have as many fields as the first.
    Raises InputError: ``ambiguous_dialect``: two delimiters fit equally well."""
    by_suffix = BY_SUFFIX.get(suffix)
    marks = dict.fromkeys((*filter(None, [by_suffix]), *MARKS)) if reading.delimiter is None else [reading.delimiter]
    shares: dict[str, tuple[float, int]] = {}
    for delimiter in filter(sample.__contains__, marks):
        read = sample_records(sample, delimiter, reading.quote_char)
        if read and (fields := len(read[0])) > 1:
            shares[delimiter] = (sum(len(record) == fields for record in read) / len(read), fields)
    if not shares:
        return reading.delimiter, 1.0
    best = by_suffix if by_suffix in shares else max(shares, key=shares.__getitem__)
    rivals = [other for other in shares if other != best and shares[other][0] == shares[best][0] == 1.0]
    if rivals and best != by_suffix:
        words = f"The fields of {name} may be separated by {named(best)} or by {named(rivals[0])}."
        raise InputError(words, code="ambiguous_dialect", hint="Name the one with --delimiter.")
    return best, shares[best][0]


def dialect_of(path: Path, reading: Reading, suffix: str, name: str) -> tuple[Dialect, list[str]]:
    """The dialect of a plain text file with rectangular records, and the names of its columns, empty without a header.
    Raises InputError: ``ambiguous_dialect``; ``preamble``: the first line is Excel's note of a separator, or a title;
    ``unreadable``."""
    sample = sample_of(path)
    if EXCEL_NOTE.match(sample):
        hint = "Leave it out with --skip 1; if the separator is not detected then, name it with --delimiter."
        raise InputError(f"Line 1 of {name} is a note of its separator for Excel.", code="preamble", hint=hint)
    if sample[:1] in ("\r", "\n"):
        hint = "Leave empty lines out with --skip."
        raise InputError(f"{name} cannot be read: line 1 is empty.", code="unreadable", hint=hint)
    check_title(lines_above(path, sample, reading, suffix, name), name)
    delimiter, _ = detected_delimiter(sample, reading, suffix, name)
    header = reading.header is not False
    read = records(path, Dialect(delimiter, reading.quote_char), name)
    _, first, lines = next((record for record in read if record[1]), (1, list[str](), [""]))
    dialect = Dialect(delimiter, reading.quote_char, end_of(lines[-1]) or "\n", header)
    return dialect, first if header else [""] * len(first)


def lines_above(path: Path, sample: str, reading: Reading, suffix: str, name: str) -> int:
    """The lines above the header, such as a title: those without a delimiter, if all below have as many fields as the first
    of them, or those above the first row that is filled to its end. 0 if there are none, or the owner says where rows begin.
    Raises InputError: ``unreadable``, ``ambiguous_dialect``."""
    if reading.header is False or reading.skip is not None:
        return 0
    dialect = Dialect(detected_delimiter(sample, reading, suffix, name)[0], reading.quote_char)
    first = sample_records(sample, dialect.delimiter or MARKS[0], dialect.quote)[:1]
    if first and len(first[0]) > 1:
        read = records(path, dialect, name)
        return rows_above(islice(((number, row) for number, row, _ in read if row), _ROWS + 1))
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
            words = f"The columns {first[label.lower()]} and {place} of {name} have the same name{how}."
            hint = f"Rename one in the file{'; if its first line is data, add --no-header' * bool(how)}."
            raise InputError(words, code="column_clash", hint=hint)
    return tuple(labels)


def basket_delimiter(path: Path, reading: Reading, name: str) -> str:
    """The delimiter of a file of baskets: the only one of the usual that occurs, else the blank. Raises InputError:
    ``ambiguous_dialect``."""
    if reading.delimiter is not None:
        return reading.delimiter
    occurring = marks_in(path)
    if len(occurring) > 1:
        words = f"The items of {name} may be separated by {' or by '.join(map(named, occurring))}."
        raise InputError(words, code="ambiguous_dialect", hint="Name the one with --delimiter.")
    return occurring[0] if occurring else " "


def looks_like_spmf(path: Path) -> bool:
    """Whether a file says that it is SPMF's, or ends its first lines with -1 -2; comments are no lines."""
    lines = [line for line in sample_of(path).split("\n") if line and line[0] not in "#%"]
    return bool(lines) and all(map(_SPMF_LINE.match, lines[:20]))


def looks_like_fimi(text: str) -> bool:
    """Whether the items of a text are separated by blanks alone; tabs count as blanks where there are blanks, too."""
    marks = {mark for mark in (*MARKS, '"') if mark in text}
    return not marks or (marks == {"\t"} and " " in text)


def _fimi_items(path: Path, header: bool, name: str) -> Iterator[str]:
    for number, chunk in enumerate(chunks(path)):
        text = chunk.decode().removesuffix("\n").replace("\r\n", "\n")
        if "\r" in text.removesuffix("\r") or not looks_like_fimi(text):
            raise InputError(
                f"{name} is no FIMI file, whose items are separated by blanks: it has other separators, or quotes.",
                code="not_fimi",
                hint="Say what it is: --layout basket if each line is a person's items, --layout long --no-header"
                " --delimiter TEXT if it is a row of columns. anondb peek FILE shows what it looks like.",
            )
        text = text.removesuffix("\r").replace("\t", ITEM_END).replace(" ", ITEM_END).replace("\n", LINE_END) + LINE_END
        yield text.partition(LINE_END)[2] if header and not number else text


def _spmf_items(path: Path, name: str) -> Iterator[str]:
    """The items of each line of a plain SPMF file: of a transaction, or of all itemsets of a sequence. ``@ITEM=1=apple``
    names an item; other lines that begin with ``@``, ``#`` or ``%``, and empty ones, are comments. In a transaction with
    utilities (``items:utility:...``) the items count."""
    labels: dict[str, str] = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("@ITEM="):
                item, _, label = line.rstrip("\n")[6:].partition("=")
                labels[item] = label
            elif line.strip() and line[0] not in "@#%":
                items, *utilities = (part.split() for part in line.split(":"))
                numeric = [len(part) for part in utilities] in ([], [1, len(items)])
                numeric &= all(_NUMBER.match(number) for part in (items, *utilities) for number in part)
                if not numeric or "-2" in items[:-1]:
                    what = "goes on after its end, -2" if numeric else "has other things than numbers and two colons"
                    raise InputError(f"{name} is no SPMF file: line {number} {what}.", code="bad_file", hint="Mend it.")
                yield ITEM_END.join(labels.get(item, item) for item in items if item not in ("-1", "-2")) + LINE_END


def write_baskets(path: Path, layout: str, fimi: bool, reading: Reading, target: Path, name: str) -> tuple[str, int]:
    """Write a plain text file of baskets in plain form: items and lines end with control characters of their own, and an
    empty line is a person without items. ``layout`` is ``basket`` or ``spmf``; the items of a file of ``fimi`` are separated
    by blanks. Returns how items are separated, in words, and the number of persons. Raises InputError: ``not_fimi``;
    ``ambiguous_dialect``; ``bad_file``: the file is not in its layout, or has one of these characters."""
    delimiter, header = " " if fimi or layout == "spmf" else basket_delimiter(path, reading, name), bool(reading.header)
    dialect = Dialect(delimiter, reading.quote_char, header=header)
    rows = (ITEM_END.join(items) + LINE_END for _, items, _ in records(path, dialect, name))
    of_lines = _spmf_items(path, name) if layout == "spmf" else islice(rows, header, None)
    parts = _fimi_items(path, header, name) if fimi else of_lines
    if any(b"\x1e" in chunk or b"\x1f" in chunk for chunk in chunks(path)):
        with path.open("rb") as file:
            line = next(number for number, line in enumerate(file, 1) if {0x1E, 0x1F}.intersection(line))
        raise InputError(f"Line {line} of {name} has a control character.", code="bad_file", hint="Remove it.")
    number = 0
    with target.open("x", encoding="utf-8", newline="") as plain:
        for part in parts:
            plain.write(part)
            number += part.count(LINE_END)
    return "SPMF" if layout == "spmf" else f"items separated by {named(delimiter)}", number
