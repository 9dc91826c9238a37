"""Runs Partition and Clump on small transactions of labels, and reads what they publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from properties.trees import Children, coded, taxonomy_of
from reference import ancestors

from anondb.algorithms.transactional.clump import clump
from anondb.algorithms.transactional.partition import partition
from anondb.engine import Engine
from anondb.models.transactional import TransactionalK

Bag = tuple[str, ...]


@dataclass(frozen=True)
class Published:
    """What every transaction is published as, in input order, and whether it is complete."""

    bags: list[Bag]
    complete: list[bool]
    remarks: tuple[str, ...]


def run(
    engine: Engine,
    children: Children,
    root: str,
    transactions: Sequence[Sequence[str]],
    k: int,
    algorithm: str = "partition",
    *,
    bag_input: bool = False,
    **options: Any,
) -> Published:
    """One run; repeated items count only with ``bag_input``."""
    with engine.transaction():
        data = coded(engine, transactions)
        taxonomy = taxonomy_of(children, root)
        if algorithm == "partition":
            found = partition(engine, data, taxonomy, TransactionalK(k), **options)
        else:
            if bag_input:
                number = {label: n for n, label in enumerate(data.labels)}
                rows = [(tid, number[i], c) for tid, t in enumerate(transactions, 1) for i, c in Counter(t).items()]
                bags = engine.put(
                    "bags", {c: ("INTEGER", [r[n] for r in rows]) for n, c in enumerate(("tid", "item", "copies"))}
                )
                data = replace(data, bags=bags)
            found = clump(engine, data, taxonomy, TransactionalK(k), **options)
        rows = engine.select(_all(found.transactions))
        incomplete = set(found.incomplete.tolist())
    shown: dict[int, list[str]] = {}
    for tid, released, copies in zip(*(rows[c].tolist() for c in ("tid", "released", "copies")), strict=True):
        shown.setdefault(tid, []).extend([found.labels[released]] * copies)
    tids = range(1, len(transactions) + 1)
    return Published([tuple(sorted(shown.get(t, ()))) for t in tids], [t not in incomplete for t in tids], found.remarks)


def _all(table: Any) -> Any:
    from sqlglot import exp

    return exp.select("*").from_(table.expression())


def generalizes(children: Children, root: str, published: Sequence[str], original: Sequence[str]) -> bool:
    """Whether there is an injection from the published copies to original occurrences below them."""
    below: dict[str, set[str]] = {}
    for item in set(original):
        for node in ancestors(children, item):
            below.setdefault(node, set()).add(item)
    occurrences = list(original)

    @cache
    def fits(position: int, used: frozenset[int]) -> bool:
        if position == len(published):
            return True
        return any(
            n not in used and item in below.get(published[position], ()) and fits(position + 1, used | {n})
            for n, item in enumerate(occurrences)
        )

    return fits(0, frozenset())
