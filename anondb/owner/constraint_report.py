"""What a run under constraints is checked for beside its promise, and tells its owner."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anondb.algorithms.method import Task
from anondb.data.constraints import REST, Countable, ItemSets, countable
from anondb.data.requirements import put_sets
from anondb.engine import Engine
from anondb.errors import VerificationFailed
from anondb.policy import Policy
from anondb.recoding import GlobalRecoding, Recoding
from anondb.release.objects import SchemaName

if TYPE_CHECKING:
    from anondb.verify.constraints import UtilityVerification


@dataclass(frozen=True)
class ConstraintReport:
    """What was stated and kept.

    Attributes:
        privacy: how many privacy constraints, or ``pgen``; None for a model without them.
        utility: how many utility constraints; None where there are none.
        rest: how many items of the data lie in none of them: they form one more group.
        checked: the utility constraints on the frozen release; None where there are none.
        countable: of each set that must stay countable, whether it did.
    """

    privacy: int | str | None
    utility: int | None
    rest: int
    checked: UtilityVerification | None
    countable: tuple[Countable, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        checked = self.checked
        return {
            "privacy": self.privacy,
            "utility": self.utility,
            "rest": self.rest,
            "utility_verified": None if checked is None else checked.verified,
            "countable": [asdict(c) for c in self.countable],
        }


def check_constraints(
    engine: Engine, policy: Policy, task: Task, recoding: Recoding, schema: SchemaName
) -> ConstraintReport | None:
    """Verify the utility constraints on a frozen release (docs/algorithms/models.md#utility), and look at the sets that
    must stay countable.

    Args:
        engine: the engine, inside a transaction.
        policy, task, recoding: how the release came about.
        schema: where it is frozen.

    Returns:
        None where nothing was stated, and for local recodings, which take no such constraints.

    Raises:
        VerificationFailed: the release breaks a utility constraint (a bug; nothing is kept).
    """
    stated, dataset = task.requirements, task.dataset
    nothing = stated.privacy is None and stated.utility is None and stated.countable is None
    if nothing or not isinstance(recoding, GlobalRecoding):
        return None
    checked = None
    rest = 0
    if stated.utility is not None:
        from anondb.verify.constraints import verify_utility

        groups = put_sets(engine, "stated_groups", stated.utility, "group_id")
        checked = verify_utility(
            engine,
            dataset.items,
            schema.table("released_items"),
            groups,
            items=stated.items(dataset),
            max_suppression=Fraction(100) if policy.max_suppression is None else policy.max_suppression,
        )
        engine.drop(groups)
        if not checked.verified:
            raise VerificationFailed(
                f"The frozen release breaks its utility constraints in {checked.violations} places; nothing was kept. "
                "This is a bug of anondb's: please report it."
            )
        of_label, names = stated.utility.groups_of(dataset.labels)
        rest = int((of_label == names.index(REST)).sum())
    return ConstraintReport(
        privacy=len(stated.privacy) if isinstance(stated.privacy, ItemSets) else stated.privacy,
        utility=None if stated.utility is None else len(stated.utility),
        rest=rest,
        checked=checked,
        countable=() if stated.countable is None else countable(stated.countable, recoding, dataset),
    )
