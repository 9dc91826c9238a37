"""Files in which a line is what one person has: baskets, FIMI's .dat files, and those of SPMF."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from anondb.errors import InputError
from anondb.reading.dialect import sample_of
from anondb.reading.options import MARKS, Dialect, Reading, named
from anondb.reading.shape import Lines, chunks, records

ITEM_END, LINE_END = "\x1f", "\x1e"  # of the plain form of baskets
_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_SPMF_LINE = re.compile(r"(@CONVERTED_FROM_TEXT|@ITEM=)|(-?\d+ )+-1 -2\s*$")


def looks_like_spmf(path: Path) -> bool:
    """Whether a file says that it is SPMF's, or ends its first lines with -1 -2."""
    lines = sample_of(path).split("\n")[:20]
    return bool(lines[0]) and all(_SPMF_LINE.match(line) for line in lines if line and line[0] not in "#%")


def looks_like_fimi(text: str) -> bool:
    """Whether the items of a text are separated by blanks alone; tabs count as blanks where there are blanks, too."""
    marks = {mark for mark in (*MARKS, '"') if mark in text}
    return not marks or (marks == {"\t"} and " " in text)


def check_fimi(path: Path, name: str) -> int:
    """The number of lines of a .dat file whose items are separated by blanks. Raises InputError: ``not_fimi``: other
    separators occur; ``bad_unicode``."""
    lines = 0
    for chunk in chunks(path):
        lone_return = b"\r" in chunk and chunk.count(b"\r") != chunk.count(b"\r\n")
        if lone_return or not looks_like_fimi(chunk.decode("latin-1")):
            raise InputError(
                f"{name} is no FIMI file, whose items are separated by blanks: it has other separators, or quotes.",
                code="not_fimi",
                hint="Say what it is: --layout basket if each line is a person's items, --layout long --no-header"
                " --delimiter TEXT if it is a row of columns. anondb peek FILE shows what it looks like.",
            )
        lines += chunk.count(b"\n") + (not chunk.endswith(b"\n"))
    return lines


def basket_rows(path: Path, delimiter: str, reading: Reading, name: str) -> Iterator[list[str]]:
    """The items of each line of a plain file of baskets; an empty line is a person without items."""
    dialect = Dialect(delimiter, reading.quote_char, header=bool(reading.header))
    with Lines(path, delimiter) as lines:
        yield from itertools.islice((record for _, record in records(lines, dialect, name)), dialect.header, None)


def spmf_rows(path: Path, name: str) -> Iterator[list[str]]:
    """The items of each line of a plain SPMF file: of a transaction, or of all itemsets of a sequence.

    ``@ITEM=1=apple`` names an item; other lines that begin with ``@``, ``#`` or ``%``, and empty ones, are comments. In a
    transaction with utilities (``items:utility:...``) the items count.
    """
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
                yield [labels.get(item, item) for item in items if item not in ("-1", "-2")]


def write_baskets(rows: Iterator[list[str]], target: Path, name: str) -> int:
    """Write baskets in plain form: items and lines end with control characters of their own. Returns their number. Raises
    InputError: ``bad_file``: an item has one of these characters."""
    number = 0
    with target.open("x", encoding="utf-8", newline="") as file:
        for number, items in enumerate(rows, 1):
            line = ITEM_END.join(items)
            if line.count(ITEM_END) != max(len(items) - 1, 0) or LINE_END in line:
                raise InputError(
                    f"Line {number} of {name} has an item with a control character.", code="bad_file", hint="Remove it."
                )
            file.write(line + LINE_END)
    return number


def described(delimiter: str) -> str:
    """How baskets are separated, in words."""
    return f"items separated by {named(delimiter)}"
