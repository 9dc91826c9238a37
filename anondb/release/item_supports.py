"""Item supports: bounds of how often each member of a released item occurs, published beside the rows. The weight is stored,
since it is the root of an equation over all members and ``count_bounds``, one SELECT, cannot iterate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anondb.engine import Engine, Query, Rows, Runner, Table, Tables, query_of, reads
from anondb.engine.arrays import Floats, run_starts
from anondb.engine.trees import exp
from anondb.release.bodies import bound_among
from anondb.release.objects import SUPPORTS, SchemaName

if TYPE_CHECKING:
    from anondb.data.transactions import Dataset

MARGIN = 1e-6  # shares of a released item's members that add up to less than 1 + MARGIN leave nothing to share
MOST_MEMBERS = 50_000_000  # of all released items
_FLOAT_ERROR = 1e-14  # of a sum of shares
_STEPS = 60  # of the bisection: more than a float has bits


@dataclass(frozen=True)
class SupportRule:
    """The parameters of the rule that makes item supports (docs/item_supports.md#the-rule)."""

    k: int  # the width of the buckets
    m: int | None  # the largest number of items that attackers know; None for any number


def write_item_supports(
    engine: Engine, dataset: Dataset, numbered: Table, schema: SchemaName, rule: SupportRule, *, local: bool
) -> None:
    """Write the table ``item_supports`` of a release, whose other tables exist, from its frozen rows and the original data;
    ``numbered`` is ``(tid, transaction_id)``, and ``local`` says whether the released item of an item depends on the
    transaction."""
    rows = {name: schema.table(name) for name in ("transaction_items", "labels", "released_items")}
    tables: Tables = {
        "released_items": rows["released_items"],
        "supports": label_counts(rows["transaction_items"], rows["labels"]),
    }
    if local:
        data = {"transactions": dataset.transactions, "items": dataset.items, "numbered": numbered}
        members = query_of("release/holders", {**tables, **rows, **data}, {})
    else:
        held = engine.put("held", held_by(dataset))
        members = query_of("warehouse/release/item_holders", {**tables, "held": held}, {})
    engine.put(schema.table("item_supports"), item_supports(engine, members, rule))
    if not local:
        engine.drop(held)


def label_counts(transaction_items: Rows, labels: Table) -> Query:
    """``(released_item, support)``: how many transactions show each released item."""
    counted = reads.counted(transaction_items, "item_id", count="support")
    return reads.joined(counted, labels, "item_id", "other.item AS released_item, one.support")


def held_by(dataset: Dataset) -> dict[str, tuple[str, Any]]:
    """The columns ``(label, n)``: how many transactions of the data hold each item."""
    return {"label": ("VARCHAR", dataset.labels), "n": ("BIGINT", dataset.supports)}


def item_supports(runner: Runner, members: Table | Query, rule: SupportRule) -> dict[str, tuple[str, Any]]:
    """The columns of the table ``item_supports`` of a release, with their types. Of the transactions that show a released
    item, n hold a member: ``members`` is ``(released_item, item, support, n)``, where the runner works."""
    tables = {"members": members}
    bounds = runner.fetch("warehouse/release/item_supports", tables, most=MOST_MEMBERS, k=rule.k, m=rule.m)
    weight = weights(bounds["released_item"], bounds["at_least"] + bounds["at_most"], bounds["support"])
    return {name: (kind, weight if name == "weight" else bounds[name]) for name, kind in SUPPORTS.items()}


def weights(released: npt.NDArray[Any], doubled: npt.NDArray[Any], support: npt.NDArray[Any]) -> Floats:
    """The weight of each row's released item: q = 1 - product of (1 - q w) over its members, 0 if the w add up to 1 or less.
    A transaction that shows a released item holds at least one of its members. If they are held independently but for that,
    with probability w each, q members are held together with the product of their w and weight^(q-1). Rows of one released
    item follow each other; ``doubled`` is twice the middle of the bounds of each, ``support`` the number of transactions
    that show it."""
    return _rounded(_weights(released, doubled, support)[0])


def wrong_weights(engine: Engine, schema: SchemaName) -> int:
    """The number of weights of a release that are not those of its bounds, as ``weights`` rounds them: other digits could
    hide a text. A neighbouring number is accepted where the floats of another machine may round to it."""
    supports = label_counts(schema.table("transaction_items"), schema.table("labels"))
    tables: Tables = {"item_supports": schema.table("item_supports"), "supports": supports}
    released, doubled, support, stored = engine.query("release/stored_weights", tables).values()
    wanted, slack = _weights(released, doubled, support)
    low, high = _rounded(wanted * (1 - slack)), _rounded(wanted * (1 + slack))
    good = (low <= stored) & (stored <= high) & (stored == _rounded(stored)) & ~np.signbit(stored)
    return int(len(stored) - good.sum())


def _rounded(values: Floats) -> Floats:
    """The values with nine digits."""
    return np.array([float(f"{value:.9g}") for value in values.tolist()], dtype=np.float64)


def _weights(released: npt.NDArray[Any], doubled: npt.NDArray[Any], support: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """The exact weights, and by which part of them the errors of floats may change each."""
    if not len(released):
        return np.empty(0), np.empty(0)
    starts = run_starts(released)
    sizes = np.diff(starts, append=len(released))
    share = doubled / (2 * support)
    low, high = np.zeros(len(starts)), np.ones(len(starts))
    with np.errstate(all="ignore"):  # the rows may be a stranger's
        for _ in range(_STEPS):
            middle = (low + high) / 2
            held = 1 - np.exp(np.add.reduceat(np.log1p(-share * np.repeat(middle, sizes)), starts))
            low, high = np.where(held > middle, middle, low), np.where(held > middle, high, middle)
        room = np.add.reduceat(share, starts) - 1
        numbers = np.where(room > MARGIN, high, 0.0)
        slack = np.where(room > MARGIN, _FLOAT_ERROR / np.minimum(room, 1), 0.0)
    return np.repeat(numbers, sizes), np.repeat(slack, sizes)


def expected_holders(
    tables: Mapping[str, Table], *, local: bool, wanted: Rows | None = None, own: Mapping[str, str] = MappingProxyType({})
) -> Query | exp.Query:
    """The query (item_id, released_item, item, support, at_least, at_most, expected) of a release of sets.

    Args:
        tables: the tables of the release, ``item_supports`` only if it has them.
        local: whether several released items may stand for one item.
        wanted: a query ``(item)``: only the members of released items that stand for one of these. Not for a local recoding.
        own: maps named queries to those that an engine has instead.
    """
    query = "release/expected_local" if local else "release/expected_global"
    return bound_among(own.get(query, query), {"middles": middles(tables, asked_labels(tables, wanted))})


def asked_labels(tables: Mapping[str, Table], wanted: Rows | None) -> Query | exp.Query:
    """The released items that stand for wanted items; all without a query of these."""
    if wanted is None:
        return bound_among("release/all_labels", tables)
    return bound_among("release/asked_labels", {**tables, "wanted": wanted})


def middles(tables: Mapping[str, Table], asked: Rows) -> Query | exp.Query:
    """What item supports say of the members of the ``asked`` released items."""
    none = {} if "item_supports" in tables else {"item_supports": bound_among("release/no_item_supports", tables)}
    return bound_among("release/middles", {**tables, **none, "asked": asked})
