"""k^m-anonymity of a local recoding against an attacker who reads released items of all levels together
(docs/algorithms/models.md#levels).

In a local recoding an item may be published as itself in one transaction and as a node above it in another. The check by
labels assumes an attacker who knows released items. Here the attacker knows up to m original items, and a transaction is a
candidate if for each of them it holds some released item, of any level, that stands for it. A threat is a set of 1 to m
original items with at least one and fewer than k candidates. Without a threat by labels there is none across levels: the
released items of a candidate that stand for the known items are at most m, so at least k transactions hold all of them. The
converse is false, so the two checks may differ.
"""

from anondb.engine import Engine, Table, reads
from anondb.models.transactional import KmAnonymity
from anondb.verify.km import verify_km
from anondb.verify.result import Verification
from anondb.verify.work import work


def verify_levels(
    engine: Engine, transactions: Table, items: Table, released_items: Table, model: KmAnonymity, *, witnesses: int = 0
) -> Verification:
    """Check published transactions against knowledge of original items.

    Args:
        witnesses: maximal number of violations to return. Of the original items that the same released items stand for,
            only the first by label is shown.

    Returns:
        ``violations`` is that of ``verify_km``. Original items that the same released items stand for count once, since
        knowing several of them reveals no more than knowing one.
    """
    named = "one.item AS label, other.item AS released"
    shown = reads.joined(released_items, items, "released_item = label", named, order="one.item, other.item")
    cover_rows = engine.select(shown)
    covers: dict[str, list[int]] = {}
    for label, released in zip(cover_rows["label"].tolist(), cover_rows["released"].tolist(), strict=True):
        covers.setdefault(label, []).append(released)
    kinds: dict[tuple[int, ...], str] = {}
    for label in sorted(covers):
        kinds.setdefault(tuple(covers[label]), label)
    pairs = [(kind, released) for kind, cover in enumerate(kinds) for released in cover]
    with work(engine) as place:
        columns = {"kind": [k for k, _ in pairs], "released": [r for _, r in pairs]}
        by_kind = engine.put("verify_kinds", {name: ("INTEGER", values) for name, values in columns.items()})
        held = reads.joined(transactions, by_kind, "item = released", "one.tid, other.kind AS item", distinct=True)
        rows = place.table("level_rows", held)
        engine.drop(by_kind)
        names = engine.put(
            "verify_kind_names", {"item": ("INTEGER", range(len(kinds))), "label": ("VARCHAR", list(kinds.values()))}
        )
        result = verify_km(engine, rows, names, model, witnesses=witnesses)
        engine.drop(names)
    return result
