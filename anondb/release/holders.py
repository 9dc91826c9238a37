"""How many transactions are expected to hold each member of each released item, from the tables of a release."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anondb.engine import Table, load


def expected_holders(tables: Mapping[str, Table], *, local: bool, wanted: exp.Query | None = None) -> exp.Query:
    """The query (item_id, released_item, item, support, at_least, at_most, expected) of a release of sets.

    Args:
        tables: the tables of the release, ``item_supports`` only if it has them.
        local: whether several released items may stand for one item.
        wanted: a query ``(item)``: only the members of released items that stand for one of these. Not for a local recoding.
    """
    known: dict[str, Table | exp.Query] = dict(tables)
    if wanted is not None:
        known["wanted"] = wanted
    steps = {"asked": "release/all_labels" if wanted is None else "release/asked_labels", "middles": "release/middles"}
    if "item_supports" not in known:
        steps = {"item_supports": "release/no_item_supports", **steps}
    for name, query in steps.items():
        known[name] = _bound(query, known)
    return _bound("release/expected_local" if local else "release/expected_global", known)


def _bound(query: str, known: Mapping[str, Table | exp.Query]) -> exp.Query:
    named = load(query)
    return named.bind({table: known[table] for table in named.reads}, {})
