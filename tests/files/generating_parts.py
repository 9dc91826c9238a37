"""Random files of two parts: two exports in one file, or one with something around it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

from files import naive
from files.generating import WORDS, Made, cell, size
from files.naive import Malformed, Persons, Table

Tree = dict[str, str | None]

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


def possible(content: str, meaning: Callable[[Table], Any], delimiters: tuple[str, ...] = naive.DELIMITERS) -> list[Any]:
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
    return [rng.choice(["c", ""]) + str(n), rng.choice(["milk", "bread, dark", "hemlock", "a;b", 'say "x"']), str(n % 7)]


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


def two_parts_of_workload(seed: int) -> Made:
    """Two lists of queries in one file."""
    rng = Random(f"workload {seed}")
    names = ["query_id", "item", "note"]
    content, _, what, _ = two_parts(rng, names, lambda r, n: [f"q{n // 2}", r.choice(WORDS) + str(n), "x"])
    return Made("workload.csv", content.encode(), possible(content, queries_of), what=what)


def queries_of(t: Table) -> Persons:
    """The items of each query."""
    found = naive.persons(t, "query_id", "item")
    if not found or any(None in items for items in found.values()):
        raise Malformed("no query")
    return found


def two_parts_of_taxonomy(seed: int) -> Made:
    """Two lists of the edges of a taxonomy in one file, or its paths from leaf to root."""
    rng = Random(f"taxonomy {seed}")
    if seed % 2:
        content, _, what, _ = two_parts(rng, ["node", "parent", "note"], lambda r, n: [*edge(n), "x"])
        one_end = content.replace("\r\n", "\n")  # mixed line ends are read, or refused
        readings = possible(content, edges_of) or possible(one_end, edges_of)
        return Made("taxonomy.csv", content.encode(), readings, what=what)
    content, delimiter, what, _ = two_parts(rng, ["i0", "g0", "all"], lambda r, n: [f"i{n}", f"g{n % 5}", "all"])
    content = content.replace(delimiter, ";") if rng.random() < 0.5 else content
    try:
        paths = [
            [cell or "" for cell in row] for _, row in naive.records("\n".join(filter(None, content.splitlines())), ";")
        ]
        readings = [tree_of([*((p[-1], None) for p in paths), *(e for p in paths for e in pairwise(p))])]
    except Malformed:
        readings = []
    return Made("taxonomy.tree", content.encode(), readings, what=what)


def edge(n: int) -> list[str]:
    """A node of a small tree and its parent."""
    return [f"g{n}", "all"] if n < 5 else [f"i{n}, x" if n % 3 else f"i{n}", f"g{n % 5}"]


def edges_of(t: Table) -> Tree:
    """The tree of a list of edges."""
    node, parent = t.number("node"), t.number("parent")
    return tree_of([(row[node], row[parent]) for row in t.rows])


def tree_of(edges: list[tuple[str, str | None]]) -> Tree:
    """The nodes of a tree with their parents; each has one, but for the root, to which all lead."""
    found = {edge for edge in edges if edge[0] != edge[1]}
    above = dict(found)
    roots = {parent for _, parent in found if parent not in above and parent is not None}
    above |= dict.fromkeys(roots)
    if None in above or len(above) != len(found) + len(roots) or sum(p is None for p in above.values()) != 1:
        raise Malformed("no tree")
    for node in above:
        seen, at = set(), node
        while at is not None:
            if at in seen:
                raise Malformed("a circle")
            seen.add(at)
            at = above[at]
    return above


def two_parts_of_hierarchies(seed: int) -> Made:
    """Two lists of the edges of hierarchies in one file."""
    rng = Random(f"hierarchies {seed}")
    names = ["attribute", "node", "parent"]
    content, _, what, _ = two_parts(rng, names, lambda r, n: [["town", "zip"][n > 30], *edge(n if n <= 30 else n - 31)])
    return Made("hierarchies.csv", content.encode(), possible(content, hierarchies_of), what=what)


def hierarchies_of(t: Table) -> dict[str, Tree]:
    """The tree of each attribute."""
    at, node, parent = t.number("attribute"), t.number("node"), t.number("parent")
    if any(row[at] is None or row[node] is None for row in t.rows):
        raise Malformed("an attribute that is missing")
    names = {row[at].lower() for row in t.rows}
    return {name: tree_of([(r[node], r[parent]) for r in t.rows if r[at].lower() == name]) for name in names}
