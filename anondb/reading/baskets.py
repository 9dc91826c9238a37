"""Files in which a line is what one person has: baskets, FIMI's .dat files, and those of SPMF."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from anondb.errors import InputError
from anondb.reading.dialect import basket_delimiter, sample_of
from anondb.reading.formats import not_utf8
from anondb.reading.options import MARKS, Dialect, Reading, named
from anondb.reading.shape import Lines, chunks, first_invalid, records

ITEM_END, LINE_END = "\x1f", "\x1e"  # of the plain form of baskets
_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_SPMF_LINE = re.compile(r"(@CONVERTED_FROM_TEXT|@ITEM=)|(-?\d+ )+-1 -2\s*$")


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


def _basket_items(path: Path, dialect: Dialect, name: str) -> Iterator[str]:
    with Lines(path, dialect.delimiter) as lines:
        read = (ITEM_END.join(record) + LINE_END for _, record in records(lines, dialect, name))
        yield from islice(read, dialect.header, None)


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
    """Write a plain text file of baskets in plain form: items and lines end with control characters of their own.

    Args:
        path: the file; an empty line is a person without items.
        layout: ``basket`` or ``spmf``.
        fimi: whether it has to be a file of FIMI, whose items are separated by blanks.

    Returns:
        How items are separated, in words, and the number of persons.

    Raises:
        InputError: ``not_fimi``; ``ambiguous_dialect``; ``bad_unicode``; ``bad_file``: the file is not in its layout, or has
            one of these characters.
    """
    delimiter, header = " " if fimi or layout == "spmf" else basket_delimiter(path, reading, name), bool(reading.header)
    if layout == "spmf":
        parts = _spmf_items(path, name)
    elif fimi:
        parts = _fimi_items(path, header, name)
    else:
        parts = _basket_items(path, Dialect(delimiter, reading.quote_char, header=header), name)
    if any(b"\x1e" in chunk or b"\x1f" in chunk for chunk in chunks(path)):
        with path.open("rb") as file:
            line = next(number for number, line in enumerate(file, 1) if {0x1E, 0x1F}.intersection(line))
        raise InputError(f"Line {line} of {name} has a control character.", code="bad_file", hint="Remove it.")
    number = 0
    try:
        with target.open("x", encoding="utf-8", newline="") as plain:
            for part in parts:
                plain.write(part)
                number += part.count(LINE_END)
    except UnicodeDecodeError:
        raise not_utf8(name, first_invalid(path)) from None
    return "SPMF" if layout == "spmf" else f"items separated by {named(delimiter)}", number
