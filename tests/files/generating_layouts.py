"""Random persons in random layouts, and random JSON."""

from __future__ import annotations

import gzip
import json
from random import Random
from typing import Any

from files import naive
from files.generating import ENDS, WORDS, Made, cell, size, text

LAYOUTS = ("basket", "wide", "one-hot", "json list", "braces", "separated", "spmf", "fimi")


def random_layout(seed: int) -> Made:
    """Random persons, written in a random layout, which is named."""
    rng = Random(f"layout {seed}")
    layout = rng.choice(LAYOUTS)
    if layout in ("spmf", "fimi"):
        return _of_numbers(rng, layout)
    plain = layout in ("braces", "separated")
    items = [f"{rng.choice(WORDS)}{n}" if plain else f"{text(rng)}{n}" for n in range(rng.randint(2, 9))]
    people = {f"{n:0{rng.choice([1, 5])}d}": rng.sample(items, rng.randint(0, len(items))) for n in range(1, size(rng) + 1)}
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
    name = rng.choice(["all.json", "all.json.gz"] if array else ["all.ndjson", "all.jsonl", "all.json", "all.ndjson.gz"])
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
