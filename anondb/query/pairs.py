"""Answer GROUP BY two items of a person: the count of every pair of items, in one pass over the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.engine import Table
from anondb.query.cached_release import Opened
from anondb.query.inline_tables import inline_table
from anondb.query.plan import Plan
from anondb.query.refusals import too_complex, unsupported

MAX_PAIRS = 500_000  # of items
SIGNS: Mapping[str, frozenset[str]] = {
    "<": frozenset({"less"}),
    "<=": frozenset({"less", "equal"}),
    ">": frozenset({"greater"}),
    ">=": frozenset({"greater", "equal"}),
    "<>": frozenset({"less", "greater"}),
    "": frozenset({"less", "equal", "greater"}),
}
"""How the first of two items may compare with the second, by the sign of their comparison; empty without one."""


def pairs(release: Opened, plan: Plan) -> Sequence[tuple[str, str, int, float, int]]:
    """The pairs of items that may occur together, each with lower bound, estimate and upper bound of their support.

    Raises:
        InputError: ``unsupported_query`` for bags and buckets, or ``query_too_complex``.
    """
    import pyarrow as pa

    assert plan.test is not None and plan.second is not None
    if release.bags is not None or release.manifest.get("model") == "anatomy":
        raise unsupported("all pairs of items, from a release of bags or in buckets", "Name one of the two items.")
    if not release.items:  # all were suppressed
        return []
    passing = release.passing([plan.test, plan.second])
    flags = [passing.of(item) for item in release.items]
    supported = "item_supports" in release.manifest
    none = {
        "released_item": "VARCHAR",
        "item": "VARCHAR",
        "at_least": "BIGINT",
        "at_most": "BIGINT",
        "weight": "DOUBLE",
    }
    first, second = zip(*flags, strict=True)
    asked = {"number": range(len(flags)), "item": release.items, "first": first, "second": second}
    with release.engine.registered(pa.table(asked)) as items:
        tables: dict[str, Table | exp.Query] = {
            **{name: release.schema.table(name) for name in ("labels", "released_items")},
            **_shown(release),
            "item_supports": release.schema.table("item_supports") if supported else inline_table(none, []),
            "asked": items,
        }
        signs = {sign: sign in plan.signs for sign in sorted(SIGNS[""])}
        most = MAX_PAIRS + 1 if plan.most is None else plan.most
        rows = release.engine.query(
            "query/pairs", tables, supported=supported, single=not release.local, most=most, **signs
        )
    if len(rows["first"]) > MAX_PAIRS:
        raise too_complex(
            f"it has over {MAX_PAIRS:,} pairs of items; name some of the items, or ORDER BY the count and LIMIT"
        )
    return list(zip(*(column.tolist() for column in rows.values()), strict=True))


def _shown(release: Opened) -> dict[str, exp.Query]:
    """The released items of each transaction, with whether it is complete, and the incomplete transactions."""
    items = release.schema.table("transaction_items").expression()
    columns = [exp.column(name, items.name) for name in ("transaction_id", "item_id")]
    if not release.differing:
        none = exp.select("transaction_id").from_(items).where(exp.false())
        return {"shown": exp.select(*columns, exp.true().as_("complete")).from_(items), "incomplete": none}
    ids = release.schema.table("transaction_ids").expression()
    complete = exp.column("complete", ids.name)
    same = columns[0].eq(exp.column("transaction_id", ids.name))
    return {
        "shown": exp.select(*columns, complete).from_(items).join(ids, on=same),
        "incomplete": exp.select("transaction_id").from_(ids).where(exp.Not(this=complete)),
    }
