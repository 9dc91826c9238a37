"""The verifier of item supports, from what they promise and not from their rule (docs/item_supports.md#the-verifier)."""

from anondb.engine import Runner, Table, query_of
from anondb.verify.work import Work


def verify_item_supports(
    engine: Runner, transactions: Table, items: Table, released_items: Table, item_supports: Table, k: int, m: int | None
) -> int:
    """Count what is wrong with the item supports ``(released_item, item, at_least, at_most, weight)`` of a release; 0 if
    every set of up to m items, with m None of any number, may be held by k or by none."""
    tables = {"transactions": transactions, "items": items, "released_items": released_items, "item_supports": item_supports}
    return Work(engine).count(query_of("warehouse/verify/item_supports", tables, {"k": k, "m": m}))
