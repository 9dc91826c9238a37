"""Check and report the owner's constraints on a release."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anondb.algorithms.method import Task
from anondb.data.constraints import REST, ItemSets, put_sets
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import VerificationFailed
from anondb.models import json_of
from anondb.policy import Policy
from anondb.recoding import GlobalRecoding, Recoding
from anondb.release.objects import SchemaName
from anondb.verify.constraints import UtilityVerification, verify_utility


@dataclass(frozen=True, eq=False, repr=False)
class Countable:
    """Whether a release shows exactly how many transactions hold any item of a set."""

    # set_id, items: the set, and its number of items
    set_id: str
    items: int
    exact: bool  # whether the count is exact (Corollary 3.12)
    suppressed: int  # number of items of the set that are suppressed
    mixed: int  # number of items of the set whose released item also stands for items outside the set


def countable(sets: ItemSets, recoding: GlobalRecoding, dataset: Dataset) -> tuple[Countable, ...]:
    """Check for each set of items whether its count stays exact under a recoding (Corollary 3.12). It does if none of the
    items is suppressed and each is generalized with items of the set only. Items that never occur are ignored."""
    image = {label: int(r) for label, r in zip(dataset.labels, recoding.image.tolist(), strict=True)}
    members: dict[int, list[str]] = {}
    for released, label in zip(recoding.member_of.tolist(), recoding.member_labels, strict=True):
        members.setdefault(released, []).append(label)
    report = []
    for set_id, items in zip(sets.ids, map(set, sets.sets()), strict=True):
        images = [image[label] for label in items if label in image]
        others = {r for r in set(images) if r >= 0 and not items.issuperset(members.get(r, ()))}
        suppressed, mixed = sum(r < 0 for r in images), sum(r in others for r in images)
        report.append(Countable(set_id, len(items), not suppressed and not mixed, suppressed, mixed))
    return tuple(report)


@dataclass(frozen=True)
class ConstraintReport:
    """The owner's constraints, and whether the release meets them."""

    privacy: int | str | None  # the number of privacy constraints, or ``pgen``; None for a model without them
    utility: int | None  # the number of utility constraints; None without any
    rest: int  # the number of items of the data outside all of these: they form one more group
    checked: UtilityVerification | None  # the utility constraints on the frozen release; None without any
    countable: tuple[Countable, ...]  # for each set that must stay countable, whether it did

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        verified = None if self.checked is None else self.checked.verified
        return {**json_of(self, "privacy", "utility", "rest", "countable"), "utility_verified": verified}


def check_constraints(
    engine: Engine, policy: Policy, task: Task, recoding: Recoding, schema: SchemaName
) -> ConstraintReport | None:
    """Verify the utility constraints on a frozen release (docs/algorithms/models.md#utility), and check the sets that must
    stay countable; None without constraints, and for local recodings, which take no such constraints. Raises
    VerificationFailed: the release breaks a utility constraint (a bug; nothing is kept)."""
    requirements, dataset = task.requirements, task.dataset
    nothing = requirements.privacy is None and requirements.utility is None and requirements.countable is None
    if nothing or not isinstance(recoding, GlobalRecoding):
        return None
    checked = None
    rest = 0
    if requirements.utility is not None:
        groups = put_sets(engine, "stated_groups", requirements.utility, "group_id")
        checked = verify_utility(
            engine,
            dataset.items,
            schema.table("released_items"),
            groups,
            items=requirements.items(dataset),
            max_suppression=Fraction(100) if policy.max_suppression is None else policy.max_suppression,
        )
        engine.drop(groups)
        if not checked.verified:
            raise VerificationFailed(
                f"The frozen release breaks its utility constraints in {checked.violations} places; nothing was kept. "
                "This is a bug in anondb: please report it."
            )
        of_label, names = requirements.utility.groups_of(dataset.labels)
        rest = int((of_label == names.index(REST)).sum())
    return ConstraintReport(
        privacy=len(requirements.privacy) if isinstance(requirements.privacy, ItemSets) else requirements.privacy,
        utility=None if requirements.utility is None else len(requirements.utility),
        rest=rest,
        checked=checked,
        countable=() if requirements.countable is None else countable(requirements.countable, recoding, dataset),
    )
