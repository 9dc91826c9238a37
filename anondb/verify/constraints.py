"""The verifier of COAT's privacy and utility constraints (Loukides, Gkoulalas-Divanis and Malin, Definitions 3.4 and 3.8;
docs/algorithms/models.md#constraints).

A privacy constraint is checked in an equivalent form of polynomial cost: let q be the released items that stand for its
items; at least k transactions must hold every part of q that some transaction holds. If k transactions hold all of q, they
hold every part of q. If some but fewer than k do, q itself is the violation. Only if none does, the parts are checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anondb.engine import Engine, Rows, Table, reads
from anondb.engine.texts import sql
from anondb.models.transactional import ConstraintAnonymity
from anondb.verify import work as limits
from anondb.verify.result import Verification, Witness
from anondb.verify.work import Work, check_budget, work


@dataclass(frozen=True)
class ConstraintWitness(Witness):
    """An unsatisfied privacy constraint: labels of a part of its image, the support of that part, and its id."""

    constraint_id: str

    def to_json(self) -> dict[str, Any]:
        """The witness as JSON values."""
        return {"constraint_id": self.constraint_id, **super().to_json()}


@dataclass(frozen=True)
class ConstraintVerification(Verification):
    """Whether the privacy constraints hold, by the definition on the published rows.

    Attributes:
        model, verified, violations, witnesses: see ``Verification``; ``violations`` counts the unsatisfied constraints,
            and the witnesses are the first of them by id.
        constraints: number of constraints.
    """

    witnesses: tuple[ConstraintWitness, ...] = ()
    constraints: int = 0


@dataclass(frozen=True)
class UtilityVerification:
    """Whether the utility constraints hold."""

    verified: bool  # whether nothing is mixed, and not too many items are suppressed
    mixed: int  # number of released items that stand for items of several utility constraints
    suppressed: int
    items: int  # number of all items, suppressed ones included
    within_limit: bool  # whether the share of suppressed items is

    @property
    def violations(self) -> int:
        """The number of released items across constraints, plus one if too many items are suppressed."""
        return self.mixed + (not self.within_limit)


def verify_constraints(
    engine: Engine,
    transactions: Table,
    items: Table,
    released_items: Table,
    constraints: Table,
    model: ConstraintAnonymity,
    *,
    witnesses: int = 0,
) -> ConstraintVerification:
    """Check privacy constraints ``(constraint_id VARCHAR, item VARCHAR)``, original items, which need not occur, on
    published transactions by the definition. A witness is an unsatisfied constraint."""
    with work(engine) as place:
        checked = place.count(reads.rows(constraints, "constraint_id", distinct=True))
        if model.k == 1:
            return ConstraintVerification(model, True, 0, constraints=checked)
        tables = {"constraints": constraints, "released_items": released_items, "items": items}
        images = place.table("images", "constraint_images", {**tables, "transactions": transactions})
        lists = place.table(
            "lists", reads.rows(images, "constraint_id, list(item ORDER BY support, item) AS items", group="constraint_id")
        )
        number = "CAST(row_number() OVER (ORDER BY items) AS INTEGER) AS id, items"
        shapes = place.table("shapes", reads.rows(reads.rows(lists, "items", distinct=True), number))
        parts = _violations(place, transactions, shapes, model.k)
        named = {"found": parts, "shapes": shapes, "lists": lists}
        broken = reads.joined(parts, shapes, "id", "other.items")
        violations = place.count(reads.joined(broken, lists, "items", "other.constraint_id", distinct=True))
        seen: list[ConstraintWitness] = []
        if violations and witnesses:
            rows = engine.query("verify/constraint_witnesses", {**named, "items": items}, how_many=witnesses)
            for name, labels, support in zip(rows["constraint_id"], rows["labels"], rows["support"], strict=True):
                seen.append(ConstraintWitness(tuple(str(x) for x in labels), int(support), str(name)))
    return ConstraintVerification(model, violations == 0, violations, tuple(seen), constraints=checked)


def _violations(place: Work[Engine], transactions: Table, shapes: Table, k: int) -> Table:
    """The violating parts ``(id, items, support)`` of the constraints' images."""
    baskets = place.table("baskets", "constraint_baskets", {"transactions": transactions})
    basket_items = place.table("basket_items", reads.rows(baskets, "basket, unnest(items) AS item"))
    content = {"baskets": baskets, "basket_items": basket_items}
    shape_items = place.table("shape_items", reads.rows(shapes, "id, unnest(items) AS item"))
    candidates = place.table("holders", "constraint_candidates", {"shapes": shapes, "basket_items": basket_items})
    named = {"shapes": shapes, "shape_items": shape_items, "candidates": candidates}
    whole = place.table("whole", "constraint_whole", {**named, **content})
    place.drop(candidates)
    open_lists = place.table(
        "open", "constraint_open", {"shapes": shapes, "whole": whole, "basket_items": basket_items}, chunk=limits.CHUNK_ROWS
    )
    number = "coalesce(max(one.part) + 1, 0) AS parts, count(*) AS rows_"
    size = place.row(reads.joined(open_lists, basket_items, "item", number))
    check_budget(size["rows_"], limits.MAX_JOINED_ROWS, "parts of privacy constraints")
    few = sql("one.support < {}", k)
    rare = reads.joined(whole, shapes, "id", "one.id, other.items, one.support", where=few)
    parts: list[Rows] = [rare]
    for part in range(size["parts"]):
        traces = place.table("traces", "constraint_traces", {"open_lists": open_lists, **content}, part=part)
        parts.append(place.table(f"few_{part}", "constraint_few", {"traces": traces}, k=k))
        place.drop(traces)
    return place.table("found", reads.union([reads.rows(part, "id, items, support") for part in parts]))


def verify_utility(
    engine: Engine,
    originals: Table,
    released_items: Table,
    groups: Table,
    *,
    items: int,
    max_suppression: Fraction | int = 100,
) -> UtilityVerification:
    """Check that each released item lies within one utility constraint, and at most s percent of items are suppressed.

    Args:
        originals: ``(item INTEGER, label VARCHAR)``, the items of the original data.
        groups: ``(group_id VARCHAR, item VARCHAR)``, disjoint; all other items form one more group.
        items: |I|, the number of items of the data and of the constraints.
        max_suppression: s, in percent.
    """
    several = "count(DISTINCT other.group_id) + max(CASE WHEN other.group_id IS NULL THEN 1 ELSE 0 END) > 1"
    mixed = reads.joined(
        *(released_items, groups, "item", "one.released_item"), side="LEFT", group="one.released_item", having=several
    )
    suppressed = reads.among(originals, released_items, "label = item", "label", absent=True)
    shown = "released_item IS NOT NULL"
    n_mixed, n_suppressed = (
        int(engine.scalar(query)) for query in (reads.counted(mixed, where=shown), reads.counted(suppressed))
    )
    within = 100 * n_suppressed <= Fraction(max_suppression) * items
    return UtilityVerification(within and not n_mixed, n_mixed, n_suppressed, items, within)
