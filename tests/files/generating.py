"""Random files with what they may mean: the texts in them, and valid CSV."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from files import naive
from files.naive import Table

ENDS = ("\n", "\n", "\r\n", "\r\n", "\r")
WORDS = (
    "milk",
    "bread",
    "hemlock",
    "Käse",
    "牛乳",
    "🥛",
    "NULL",
    "NA",
    "nan",
    "true",
    "False",
    "001",
    "1",
    "1.0",
    "1e5",
    "#",
)
PIECES = (
    *WORDS,
    " ",
    "  ",
    ",",
    ";",
    "\t",
    "|",
    '"',
    '""',
    "'",
    "\n",
    "\r\n",
    "\r",
    "\\",
    "\u2028",
    "\u0085",
    "\ufeff",
    "=",
    "-1",
)
NAMES = (
    "note",
    "price",
    "when",
    "Größe",
    "a b",
    "x.y",
    "select",
    "n,m",
    "p;q",
    'say "x"',
    "line\nend",
    " padded ",
    "'",
    "#",
)
LARGE = 2100  # more rows than a detector looks at, or takes for a preamble


@dataclass(frozen=True)
class Made:
    """A random file.

    Attributes:
        name, data: its name and its bytes.
        readings: all that it may be read as; with none of them it must be refused.
        columns: the columns of ids and items.
        options: how it is read.
        valid: whether it has one meaning, so that it should not be refused.
        what: what was done to it.
    """

    name: str
    data: bytes
    readings: list[Any]
    columns: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    valid: bool = False
    what: str = ""


def text(rng: Random, longest: int = 4) -> str:
    """A text of words, blanks, delimiters, quotes and line ends."""
    return "".join(rng.choices(PIECES, k=rng.randint(1, longest)))


def size(rng: Random) -> int:
    """A number of rows: mostly few, at times more than a detector looks at."""
    return rng.choices([rng.randint(1, 12), rng.randint(150, 300), LARGE], [16, 3, 1])[0]


def cell(value: str, delimiter: str, quote: str, always: bool) -> str:
    """A value as a field."""
    if not quote:
        return value
    if always or not value or value.startswith(("\ufeff", "#")) or any(c in value for c in (delimiter, quote, "\r", "\n")):
        return quote + value.replace(quote, quote * 2) + quote
    return value


# ---------------------------------------------------------------------- valid CSV


def valid_csv(seed: int) -> Made:
    """A valid file in a random dialect, which is passed or must be detected; its meaning by Python's csv module."""
    rng = Random(f"valid {seed}")
    delimiter = rng.choice(naive.DELIMITERS)
    quote = rng.choices(['"', "'", ""], [8, 1, 1])[0]
    header = rng.random() < 0.85
    end = rng.choice(ENDS)
    width = rng.randint(2, 6)
    rows = _rows(rng, width, delimiter if not quote else None)
    names = ["customer", "product", *rng.sample([n for n in NAMES if quote or not re.search("[,;\n]", n)], width - 2)]
    rng.shuffle(names)
    if not header:
        names = [f"column{n}" for n in range(1, width + 1)]
    always = rng.random()
    lines = [
        delimiter.join(cell(value, delimiter, quote, rng.random() < always) for value in row)
        for row in ([names] if header else []) + rows
    ]
    content = end.join(lines) + rng.choice([end, end, "", end * 2])
    options = {"delimiter": delimiter} if not header or not quote or rng.random() < 0.4 else {}
    options |= {"quote": quote or "none"} if quote != '"' or rng.random() < 0.2 else {}
    options |= {} if header and rng.random() < 0.8 else {"header": header}
    id, item = rng.sample(names, 2) if not header else ("customer", "product")
    data, encoded = _encoded(rng, content)
    name, data = _packed(rng, {"\t": ".tsv", "|": ".psv"}.get(delimiter, ".csv") if rng.random() < 0.5 else ".csv", data)
    read = by_csv_module(content, delimiter, quote, header)
    assert read.rows == rows, "the generator writes what it means"
    return Made(name, data, [naive.persons(read, id, item)], {"id": id, "item": item}, options | encoded, valid=True)


def _rows(rng: Random, width: int, never: str | None) -> list[list[str]]:
    """Rows of texts; ``never`` is a delimiter that cannot be quoted."""
    people = [text(rng, 2) for _ in range(8)] + [str(n) for n in range(1, 400)]
    items = [text(rng) for _ in range(12)] + [""]
    others = [text(rng, 6) for _ in range(8)] + [""]
    n = size(rng)
    rows = [
        [rng.choice(people), rng.choice(items), *rng.choices(others, k=width - 2)] if rng.random() < 0.9
        else [rng.choice(people), rng.choice(items[:3]), *[""] * (width - 2)]
        for _ in range(n)
    ]  # fmt: skip
    rows = [rng.sample(row, width) if rng.random() < 0.1 else row for row in rows]
    if never is None:
        return rows
    plain = str.maketrans(dict.fromkeys(f"{never}\r\n\"'\ufeff", "_"))
    return [[value.translate(plain) or "-" for value in row] for row in rows]


def by_csv_module(content: str, delimiter: str, quote: str, header: bool) -> Table:
    """The table that Python's csv module reads."""
    quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    lines = list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True, **quoting))
    lines = [line for line in lines if line]
    columns = lines[0] if header else [f"column{n}" for n in range(1, len(lines[0]) + 1)]
    return Table(columns, lines[1:] if header else lines)


def _encoded(rng: Random, content: str) -> tuple[bytes, dict[str, str]]:
    """The bytes of a text, and the option that says its encoding."""
    match rng.choices(["utf-8", "utf-8-sig", "utf-16", "latin-1"], [14, 3, 2, 2])[0]:
        case "utf-16":
            return content.encode("utf-16"), {"encoding": "utf-16"}
        case "latin-1" if all(ord(c) < 256 for c in content):
            return content.encode("latin-1"), {"encoding": "latin-1"}
        case "utf-8-sig":
            return content.encode("utf-8-sig"), {}
        case _:
            return content.encode(), {}


def _packed(rng: Random, suffix: str, data: bytes) -> tuple[str, bytes]:
    """The name of a file and its bytes, at times compressed."""
    return (f"valid{suffix}.gz", gzip.compress(data)) if rng.random() < 0.15 else (f"valid{suffix}", data)
