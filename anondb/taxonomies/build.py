"""Build a taxonomy of the items of the data: by their names, by their codes, by categories, by frequency, or by similarity.
Every builder says for each item to which groups it belongs, from the coarsest to the finest; ``tree_of`` makes the tree. A
group of one group or item alone is left out, because generalizing to it would tell no less."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.sources import Source, open_source
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.data.transactions import Dataset, load_transactions, text_of
from anondb.engine import Engine, reads
from anondb.engine.arrays import Ints
from anondb.engine.texts import listed
from anondb.errors import BudgetExceeded, InputError
from anondb.taxonomies import BUILDERS, FAN_OUT

SEPARATORS = ("/", ">", ":", "|", "_", "-", ".", " ")
MAX_SIMILAR = 5_000  # items that are ordered by similarity: their pair counts take 100 MB

Path = tuple[Hashable, ...]
"""The groups of an item, from the coarsest to the finest; each is unique within the one before."""


@dataclass(frozen=True)
class Request:
    """What to build a taxonomy of items, or a hierarchy of the values of an attribute, from."""

    # the name of a builder (``BUILDERS``, ``HIERARCHIES``); empty, for a hierarchy, for what the values suggest
    by: str = ""
    separator: str | None = None  # for ``prefix``: the text between the parts of a name; None finds it
    # for ``code``: how many first characters the groups have in common; none for all numbers
    lengths: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()  # for ``categories``: the columns with the groups of an item, the coarsest first
    fan_out: int = FAN_OUT  # for ``frequency`` and ``similarity``: the number of children of a node
    root: str = "all"  # the label of the root
    steps: tuple[str, ...] = ()  # for ``bands``: their widths, the finest first, as texts
    mapping: Any = None  # for ``mapping``: a taxonomy with the values, in a table or a file

    @classmethod
    def from_texts(cls, by: str, **texts: Any) -> Request:
        """A request from texts, in which commas separate several values; those that are None or empty are left out. Raises
        InputError: ``bad_parameter``: a length or the fan-out is no whole number."""
        values: dict[str, Any] = {name: text for name, text in texts.items() if text not in (None, "")}
        for name in {"lengths", "columns", "steps"} & values.keys():
            values[name] = tuple(part.strip() for part in values[name].split(",") if part.strip())
        try:
            values |= {"lengths": tuple(map(int, values["lengths"]))} if "lengths" in values else {}
            values |= {"fan_out": int(values["fan_out"])} if "fan_out" in values else {}
        except ValueError:
            words = "--lengths is a list of whole numbers, such as 1,3, and --fan-out a whole number."
            raise InputError(words, code="bad_parameter") from None
        return cls(by, **values)


def build_taxonomy(engine: Engine, transactions: Any, request: Request) -> Taxonomy:
    """Build a taxonomy with the items of the transactions as its leaves, outside a transaction; for ``categories`` they also
    have the columns with the groups. Raises InputError: ``bad_parameter``; for ``categories`` also ``bad_type``: the items
    are lists; ``several_categories``: an item is in several groups. BudgetExceeded: too many items to be ordered by
    similarity."""
    check_request(request, BUILDERS)
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        dataset = load_transactions(engine, source)
        if request.by == "categories":
            groups = _paths_of_categories(engine, source, source.item, request.columns)
            tree = tree_of(dataset.labels, [groups[label] for label in dataset.labels], named_by_key, request.root)
        else:
            similarity: tuple[Builder, Name] = (
                partial(_by_similarity, engine, dataset),
                lambda _, members: f"{members[0]} and {len(members) - 1} more",
            )
            builder, name = BY_LABELS.get(request.by, similarity)
            tree = tree_of(dataset.labels, builder(dataset.labels, dataset.supports, request), name, request.root)
        return replace(tree, kind=dataset.item_kind)


def check_request(request: Request, builders: Sequence[str]) -> None:
    """Refuse a request that none of the builders can fulfil. Raises InputError: ``bad_parameter``, ``empty_name``."""
    if request.by not in builders:
        raise InputError(f"Groups are built by {', '.join(builders)}, not by {request.by!r}.", code="bad_parameter")
    if request.by == "code" and min(request.lengths, default=1) < 1:
        raise InputError(
            "The lengths of prefixes are at least 1.", code="bad_parameter", hint="Raise them, or leave --lengths out."
        )
    if request.by == "categories" and not request.columns:
        raise InputError(
            "By categories needs the columns with the groups of an item.",
            code="bad_parameter",
            hint="Name them with --columns, the coarsest first, such as --columns department,category.",
        )
    if request.by == "mapping" and request.mapping is None:
        raise InputError("By mapping needs a taxonomy of the values.", code="bad_parameter", hint="Name it with --mapping.")
    if request.fan_out < 2:
        raise InputError("The fan-out is at least 2.", code="bad_parameter", hint="Raise --fan-out.")
    if not request.root:
        raise InputError("The label of the root is empty.", code="empty_name", hint="Name it with --root.")


# --- builders -------------------------------------------------------------------------------------------------------


def _by_prefix(labels: Sequence[str], weights: Ints, request: Request) -> list[Path]:
    """Names such as ``dairy/milk/whole``: a group for all names with the same first parts."""
    separator = request.separator or _separator(labels)
    parts = [label.split(separator) for label in labels]
    return [tuple(separator.join(p[: n + 1]) for n in range(len(p) - 1)) for p in parts]


def _separator(labels: Sequence[str]) -> str:
    """The separator that most names have, of those that at least half of the names have."""
    held = {s: sum(s in label.strip(s) for label in labels) for s in SEPARATORS}
    best = max(SEPARATORS, key=lambda s: held[s])
    if 2 * held[best] < max(len(labels), 1):
        raise InputError(
            "No separator divides at least half of the names.",
            code="bad_parameter",
            hint="Name it with --separator, or build by frequency.",
        )
    return best


def _by_code(labels: Sequence[str], weights: Ints, request: Request) -> list[Path]:
    """Codes such as 250.01: a group for all codes with the same first characters."""
    lengths = sorted(set(request.lengths or all_lengths(labels)))
    return [tuple(f"{label[:n]}*" for n in lengths if n <= len(label)) for label in labels]


def all_lengths(labels: Sequence[str]) -> tuple[int, ...]:
    """The lengths of the prefixes of codes."""
    return tuple(range(1, max(map(len, labels), default=2))) or (1,)


def _by_frequency(labels: Sequence[str], weights: Ints, request: Request) -> list[Path]:
    """Neighbours in the order of names, in groups that occur about equally often."""
    order = sorted(range(len(labels)), key=lambda item: _natural(labels[item]))
    return _divided(order, weights, request.fan_out)


def _by_similarity(engine: Engine, dataset: Dataset, labels: Sequence[str], weights: Ints, request: Request) -> list[Path]:
    """Items that occur with the same other items, in groups of about equally many."""
    n = len(labels)
    if n > MAX_SIMILAR:
        raise BudgetExceeded(
            f"{n:,} items cannot be ordered by similarity, at most {MAX_SIMILAR:,}.",
            hint="Build by frequency, code, prefix or categories.",
        )
    together = np.zeros((n, n), dtype=np.float32)
    rows = engine.query("transactions/pairs", {"transactions": dataset.transactions})
    together[rows["first"], rows["second"]] = together[rows["second"], rows["first"]] = rows["transactions"]
    order = _chain(together, weights)
    return _divided(order, np.ones(n, dtype=np.int64), request.fan_out)


def _chain(together: npt.NDArray[np.float32], supports: Ints) -> list[int]:
    """Order the items so that neighbours are similar: first the most frequent one, then always the most similar of the rest.
    The similarity is the cosine of the numbers of transactions with each other item."""
    np.fill_diagonal(together, supports)
    lengths = np.linalg.norm(together, axis=1)
    left = np.ones(len(supports), dtype=np.bool_)
    order: list[int] = []
    item = int(supports.argmax()) if len(supports) else -1
    while item >= 0:
        order.append(item)
        left[item] = False
        cosine = np.where(left, np.round(together @ together[item] / (lengths * lengths[item]), 6), -1)
        item = int(cosine.argmax()) if left.any() else -1
    return order


def _divided(order: Sequence[int], weights: Ints, fan_out: int) -> list[Path]:
    """Divide a sequence of items into parts of about equal weight, and these again, down to parts of ``fan_out`` items."""
    paths: dict[int, Path] = {}
    todo: list[tuple[list[int], Path]] = [(list(order), ())]
    while todo:
        items, path = todo.pop()
        if len(items) <= fan_out:
            paths |= dict.fromkeys(items, path)
            continue
        ends = np.cumsum(weights[items], dtype=np.float64)
        cuts = [0]
        for part in range(1, fan_out):
            at = int(np.searchsorted(ends, ends[-1] * part / fan_out)) + 1
            cuts.append(min(max(at, cuts[-1] + 1), len(items) - fan_out + part))
        cuts.append(len(items))
        todo += [(items[a:b], (*path, n)) for n, (a, b) in enumerate(pairwise(cuts))]
    return [paths[item] for item in range(len(order))]


def _paths_of_categories(engine: Engine, source: Source, item_column: str, names: Sequence[str]) -> Mapping[str, Path]:
    """The groups of each item in the columns of a source; NULL is no group."""
    item, *columns = source.column(item_column, "--item"), *(source.column(name, "--columns") for name in names)
    if source.columns[item].endswith("]"):
        raise InputError(
            f"The items of {source.name} are lists, which have no categories.",
            code="bad_type",
            hint="Name a table with a row for each person and item.",
        )

    wanted = listed(f"{text_of(c, source.columns[c])} AS c{n}" for n, c in enumerate((item, *columns)))
    named = reads.rows(source.query, wanted, distinct=True)
    cells = zip(*(np.ma.asarray(c).tolist() for c in engine.select(named, "the categories of items").values()), strict=True)
    paths: dict[str, set[Path]] = defaultdict(set)
    for label, *groups in cells:
        paths[label].add(tuple(group for group in groups if group is not None))
    if several := sum(len(of) > 1 for of in paths.values()):
        raise InputError(
            f"{several} items have different categories in different rows.",
            code="several_categories",
            hint="Give each item one category, in a table or a view.",
        )
    return {label: next(iter(of)) for label, of in paths.items()}


def _natural(label: str) -> list[tuple[int, int, str]]:
    """A key that sorts the numbers in labels by their values."""
    return [(0, int(p), "") if p.isdigit() and p.isascii() else (1, 0, p) for p in re.split(r"([0-9]+)", label) if p]


# --- the tree -------------------------------------------------------------------------------------------------------

Name = Callable[[Hashable, Sequence[str]], str]


def named_by_key(key: Hashable, members: Sequence[str]) -> str:
    """A group has the name of its key."""
    return str(key)


def _named_by_range(key: Hashable, members: Sequence[str]) -> str:
    """The first and the last of the items, in the order of names."""
    ordered = sorted(members, key=_natural)
    return f"{ordered[0]} to {ordered[-1]}"


Builder = Callable[[Sequence[str], Ints, Request], list[Path]]
"""Gives the groups of each label, from the labels and how many transactions or persons have each."""
BY_LABELS: Mapping[str, tuple[Builder, Name]] = {
    "prefix": (_by_prefix, named_by_key),
    "code": (_by_code, named_by_key),
    "frequency": (_by_frequency, _named_by_range),
}


def tree_of(labels: Sequence[str], paths: Sequence[Path], name: Name, root: str) -> Taxonomy:
    """The tree of items or values with these groups."""
    members: dict[Path, list[str]] = defaultdict(list)
    children: dict[Path, set[object]] = defaultdict(set)
    for label, path in zip(labels, paths, strict=True):
        for n in range(len(path) + 1):
            members[path[:n]].append(label)
            children[path[:n]].add(path[: n + 1] if n < len(path) else label)
    taken = set(labels)
    nodes: dict[Path, str] = {(): _free(root, taken)}
    for path in sorted(members, key=lambda p: (len(p), members[p][0])):
        if path and len(children[path]) > 1:
            nodes[path] = _free(name(path[-1], members[path]), taken)

    def above(path: Path) -> str:
        while path not in nodes:
            path = path[:-1]
        return nodes[path]

    edges: list[tuple[str, str | None]] = [(nodes[()], None)]
    edges += [(node, above(path[:-1])) for path, node in nodes.items() if path]
    edges += [(label, above(path)) for label, path in zip(labels, paths, strict=True)]
    return from_edges(edges)


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number if an item or another group has it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free
