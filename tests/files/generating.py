"""Random files with what they may mean: valid CSV, files of two parts, and JSON."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from files import naive
from files.naive import Malformed, Table

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
    if (
        always
        or not value
        or value.startswith(("\ufeff", "#"))
        or any(c in value for c in (delimiter, quote, "\r", "\n"))
    ):
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
    name, data = _packed(
        rng, {"\t": ".tsv", "|": ".psv"}.get(delimiter, ".csv") if rng.random() < 0.5 else ".csv", data
    )
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


# ---------------------------------------------------------------------- layouts

LAYOUTS = ("basket", "wide", "one-hot", "json list", "braces", "separated", "spmf", "fimi")


def random_layout(seed: int) -> Made:
    """Random persons, written in a random layout, which is named."""
    rng = Random(f"layout {seed}")
    layout = rng.choice(LAYOUTS)
    if layout in ("spmf", "fimi"):
        return _of_numbers(rng, layout)
    plain = layout in ("braces", "separated")
    items = [f"{rng.choice(WORDS)}{n}" if plain else f"{text(rng)}{n}" for n in range(rng.randint(2, 9))]
    people = {
        f"{n:0{rng.choice([1, 5])}d}": rng.sample(items, rng.randint(0, len(items))) for n in range(1, size(rng) + 1)
    }
    delimiter, end = rng.choice(naive.DELIMITERS), rng.choice(ENDS)
    if layout == "basket":
        return _basket(rng, list(people.values()), delimiter, end)
    columns, options = (
        {"id": "who"},
        {"layout": layout if layout in ("wide", "one-hot") else "list", "delimiter": delimiter},
    )
    with_id = options["layout"] == "list" or rng.random() < 0.6
    held = {i: set(has) for i, has in people.items()}
    match layout:
        case "wide":
            width = max(2, *map(len, people.values()))
            head = [f"Item {n}" for n in range(1, width + 1)]
            rows = [has + [""] * (width - len(has)) for has in people.values()]
            if rng.random() < 0.5:
                options |= {"item_domains": True}
                held = {i: {f"Item {n}.{v}" for n, v in enumerate(has, 1)} for i, has in people.items()}
        case "one-hot":
            head = items
            yes, no = rng.choice([("1", "0"), ("True", "False"), ("t", "?"), ("x", ""), ("Y", "n"), ("yes", "no")])
            rows = [[yes if i in has else no for i in items] for has in people.values()]
        case "json list":
            rows = [[json.dumps(has, ensure_ascii=rng.random() < 0.5)] for has in people.values()]
        case "braces":
            rows = [["{" + ",".join(has) + "}"] for has in people.values()]
        case _:
            mark = options["item_separator"] = rng.choice([m for m in " ;,/" if m != delimiter])
            rows = [[mark.join(has)] for has in people.values()]
    if options["layout"] == "list":
        columns["item"], head = "what", ["what"]
    if with_id:
        head, rows = ["who", *head], [[i, *row] for i, row in zip(people, rows, strict=True)]
    else:
        columns, held = {}, dict(zip(map(str, range(1, len(rows) + 1)), held.values(), strict=True))
    content = _sparse([head, *rows], delimiter, end)
    return Made("layout.csv", content.encode(), [held], columns, options, valid=True, what=layout)


def _sparse(rows: list[list[str]], delimiter: str, end: str) -> str:
    """Rows as CSV in which an empty cell is nothing at all."""
    return "".join(delimiter.join(v and cell(v, delimiter, '"', False) for v in row) + end for row in rows)


def _basket(rng: Random, lists: list[list[str]], delimiter: str, end: str) -> Made:
    """A person on each line; an empty line is a person without items."""
    options = {"layout": "basket", "delimiter": delimiter}
    content = _sparse(lists, delimiter, end)
    return Made("layout.csv", content.encode(), [naive.numbered(lists)], {}, options, valid=True, what="basket")


def _of_numbers(rng: Random, layout: str) -> Made:
    """Lines of numbers: FIMI, or SPMF's transactions and sequences, at times with names."""
    lists = [[str(rng.randint(1, 40)) for _ in range(rng.randint(1, 8))] for _ in range(size(rng))]
    end = rng.choice(["\n", "\r\n"])
    if layout == "fimi":
        lists = [has if rng.random() < 0.9 else [] for has in lists]
        content = "".join(rng.choice([" ", "  ", "\t"]).join(has) + rng.choice(["", " "]) + end for has in lists)
        return Made("layout.dat", content.encode(), [naive.numbered(lists)], valid=True, what=layout)
    names = {str(n): f"item {n}=" for n in rng.sample(range(1, 41), 40)} if rng.random() < 0.5 else {}
    between = rng.choice([" ", " -1 "])
    lines = [f"@ITEM={n}={name}" for n, name in names.items()]
    lines += [between.join(has) + (" -1 -2" if between != " " else "") for has in lists]
    held = naive.numbered([[names.get(item, item) for item in has] for has in lists])
    content = end.join(lines) + end
    return Made("layout.txt", content.encode(), [held], {}, {"layout": "spmf"}, valid=True, what=layout)


# ---------------------------------------------------------------------- two parts

Row = Callable[[Random, int], list[str]]
PARTS = (
    *("the same header", "no header", "a column more", "a column less", "another delimiter", "swapped columns"),
    *("other line ends", "a footer", "a preamble", "comments", "empty lines between", "cut"),
)


def two_parts(rng: Random, names: list[str], row: Row) -> tuple[str, str, str, int]:
    """Two exports in one text, or one with something around it; its delimiter, what was done, and the lines before it."""
    delimiter = rng.choice((",", ",", ";", "\t", "|"))
    end = rng.choice(("\n", "\n", "\r\n"))
    first, second = rng.sample([size(rng), rng.randint(1, 30)], 2)
    rows = [row(rng, n) for n in range(first)]
    more = [row(rng, n) for n in range(first, first + second)]
    what = rng.choice(PARTS)
    begin = middle = behind = ""
    head, part, other, ends = names, more, delimiter, end
    match what:
        case "no header":
            head = []
        case "a column more":
            head, part = [*names, "more"], [[*r, rng.choice(["1", "", "x"])] for r in more]
        case "a column less":
            head, part = names[:-1], [r[:-1] for r in more]
        case "another delimiter":
            other = rng.choice([d for d in naive.DELIMITERS if d != delimiter])
        case "swapped columns":
            head, part = names[::-1], [r[::-1] for r in more]
        case "other line ends":
            head, ends = [], "\r\n" if end == "\n" else "\n"
        case "a footer":
            head, part = [], []
            behind = rng.choice(
                [f"({first} rows)", f"Total{delimiter}{first}", "\x1a", "-- end", '"', "  ", "Total" + delimiter]
            )
        case "a preamble":
            head, part = [], []
            lines = rng.choice(
                [["Report"], ["Report", ""], [f"sep={delimiter}"], ["Shop", f"a{delimiter}b", ""], ['"x', 'y"']]
            )
            begin = end.join([*lines * rng.choice([1, 1, 300]), ""])
        case "comments":
            head, part = [], []
            begin = end.join(["# made by hand", f"# of{delimiter}us", ""][rng.randint(0, 1) :])
            behind = rng.choice(["", "# end"])
        case "empty lines between":
            head = rng.choice([[], names])
            middle = end * 2
    body = written([names, *rows], delimiter, end) + middle + written([head, *part] if head else part, other, ends)
    whole = begin + body + behind + (end if behind and rng.random() < 0.5 else "")
    if what == "cut":
        whole = whole[: -rng.randint(1, 20)].removesuffix("\r")
    return whole, delimiter, what, begin.count(end)


def written(rows: list[list[str]], delimiter: str, end: str) -> str:
    """Rows as CSV."""
    return "".join(delimiter.join(cell(value, delimiter, '"', False) for value in row) + end for row in rows)


def possible(
    content: str, meaning: Callable[[Table], Any], delimiters: tuple[str, ...] = naive.DELIMITERS
) -> list[Any]:
    """All that a text may mean, with each delimiter; its first line may name the delimiter (``sep=;``)."""
    found = []
    starts = [(content, d) for d in delimiters]
    named = re.match(r"sep=(.)(\r\n|\n)", content)
    starts += [(content[named.end() :], named[1])] if named else []
    for start, delimiter in starts:
        try:
            value = meaning(naive.table(start, delimiter))
        except Malformed:
            continue
        if value not in found:
            found.append(value)
    return found


def purchase(rng: Random, n: int) -> list[str]:
    return [
        rng.choice(["c", ""]) + str(n),
        rng.choice(["milk", "bread, dark", "hemlock", "a;b", 'say "x"']),
        str(n % 7),
    ]


def two_parts_of_transactions(seed: int) -> Made:
    """Two exports of purchases in one file; at times the delimiter is named, and the lines to skip."""
    rng = Random(f"transactions {seed}")
    content, delimiter, what, before = two_parts(rng, ["customer", "product", "price"], purchase)
    options: dict[str, Any] = {"delimiter": delimiter} if rng.random() < 0.3 else {}
    delimiters = (delimiter,) if options else naive.DELIMITERS
    options |= {"skip": before} if before and rng.random() < 0.5 else {}
    kept = naive.without_lines(content, options.get("skip", 0))
    readings = possible(kept, lambda t: naive.persons(t, "customer", "product"), delimiters)
    name, data = rng.choice(["parts.csv", "parts.tsv", "parts.csv.gz"]), content.encode()
    data = gzip.compress(data) if name.endswith(".gz") else data
    return Made(name, data, readings, {"id": "customer", "item": "product"}, options, what=what)


def two_parts_of_records(seed: int) -> Made:
    """Two exports of records in one file: the town of each person."""
    rng = Random(f"records {seed}")
    towns = ["Bonn", "Köln", "Hemlock, MI", "a;b"]
    content, _, what, _ = two_parts(rng, ["tid", "town", "note"], lambda r, n: [f"p{n}", r.choice(towns), str(n % 3)])
    return Made("records.csv", content.encode(), possible(content, towns_of), what=what)


def towns_of(t: Table) -> dict[str, str | None]:
    """The town of each person; an id that is missing or comes twice has no meaning."""
    id, town = t.number("tid"), t.number("town")
    found = {row[id]: row[town] for row in t.rows}
    if None in found or len(found) < len(t.rows):
        raise Malformed("an id that is missing, or twice")
    return found


def two_parts_of_constraints(seed: int) -> Made:
    """Two lists of privacy constraints in one file."""
    rng = Random(f"constraints {seed}")
    names = ["constraint_id", "item", "note"]
    content, _, what, _ = two_parts(rng, names, lambda r, n: [f"c{n // 2}", r.choice(WORDS) + str(n), "x"])
    return Made("constraints.csv", content.encode(), possible(content, sets_of), what=what)


def sets_of(t: Table) -> set[frozenset[str]]:
    """The sets of items of the constraints."""
    found = naive.persons(t, "constraint_id", "item")
    if not found:
        raise Malformed("no constraint")
    return {frozenset(items) for items in found.values()}


def two_parts_of_sensitive(seed: int) -> Made:
    """Two lists of sensitive items in one file, of one column or of two."""
    rng = Random(f"sensitive {seed}")
    names = ["item", "note"][: rng.randint(1, 2)]
    content, _, what, _ = two_parts(rng, names, lambda r, n: [r.choice(WORDS) + str(n), "x"][: len(names)])
    return Made("sensitive.csv", content.encode(), possible(content, listed), what=what)


def listed(t: Table) -> set[str]:
    """The items of a list: its only column, or the column ``item``; a delimiter shows that there are more columns."""
    if len(t.columns) == 1 and any(
        d in str(value) for row in [t.columns, *t.rows] for value in row for d in naive.DELIMITERS
    ):
        raise Malformed("not one column")
    at = 0 if len(t.columns) == 1 else t.number("item")
    found = {row[at] for row in t.rows}
    if None in found:
        raise Malformed("an item that is missing")
    return found


# ---------------------------------------------------------------------- JSON

FAULTS = (
    "cut",
    "a key twice",
    "a line of text",
    "a comma too few",
    "two arrays",
    "no item",
    "no id",
    "a footer",
    "an id in an object",
)


def random_json(seed: int) -> Made:
    """JSON objects in an array or one on each line; a third of the files is damaged."""
    rng = Random(f"json {seed}")
    numbers = rng.random() < 0.3
    objects = [_object(rng, n, numbers) for n in range(size(rng))]
    fault = rng.choice(FAULTS) if rng.random() < 0.33 else ""
    if fault in ("no item", "no id"):
        key = "product" if fault == "no item" else "customer"
        objects[-1] = rng.choice([{**objects[-1], key: None}, {k: v for k, v in objects[-1].items() if k != key}])
    if fault == "an id in an object":
        objects[-1]["customer"] = {"$oid": "5f"}
    style = {"ensure_ascii": rng.random() < 0.5, "separators": rng.choice([(",", ":"), (", ", ": ")])}
    lines = [json.dumps(o, **style) for o in objects]
    if fault == "a key twice":
        lines[-1] = '{"customer": "other", ' + lines[-1][1:]
    array = rng.random() < 0.5
    if array and rng.random() < 0.3 and fault != "a key twice":
        content = json.dumps(objects, indent=2)
    elif array:
        content = "[" + rng.choice([",\n", ", ", ","]).join(lines) + "]\n"
    else:
        content = rng.choice(["\n", "\n", "\r\n"]).join(lines) + rng.choice(["", "\n", "\n\n"])
    content = damaged(rng, content, fault)
    name = rng.choice(
        ["all.json", "all.json.gz"] if array else ["all.ndjson", "all.jsonl", "all.json", "all.ndjson.gz"]
    )
    data = gzip.compress(content.encode()) if name.endswith(".gz") else content.encode()
    columns = {"id": "customer", "item": "product"}
    readings = naive.readings(content.encode(), "all.json", **columns)
    assert readings or fault, "the generator writes what it means"
    return Made(name, data, readings, columns, valid=not fault, what=fault or "valid")


def _object(rng: Random, n: int, numbers: bool) -> dict[str, Any]:
    """A purchase with other keys, in any order; ids and items are texts, or whole numbers."""
    item: Any = rng.choice([7, 12345678901234567890, -1]) if numbers else text(rng)
    made = {
        "customer": n // 2 + 10 ** rng.choice([0, 19]) if numbers else rng.choice(["", "0", "00"]) + str(n // 2),
        "product": item,
    }
    others = {
        "note": None,
        "paid": True,
        "price": 1.5,
        "tags": ["a", {"b": 1}],
        "place": {"x": {"y": []}},
        "text": text(rng),
    }
    made |= {key: others[key] for key in rng.sample(sorted(others), rng.randint(0, 3))}
    return {key: made[key] for key in rng.sample(sorted(made), len(made))}


def damaged(rng: Random, content: str, fault: str) -> str:
    """A text with a fault."""
    match fault:
        case "cut":
            return content.rstrip()[: -rng.randint(1, 8)]
        case "a line of text":
            return content.rstrip() + "\nhemlock\n"
        case "a comma too few":
            at = content.rfind(",")
            return content[:at] + " " + content[at + 1 :]
        case "two arrays":
            return content.rstrip() + "\n" + '[{"customer": "z", "product": "hemlock"}]\n'
        case "a footer":
            return content.rstrip() + "\n(2 rows)\n"
        case _:
            return content
