"""The result of a verification, for every model."""

from dataclasses import dataclass, fields
from typing import Any

from anondb.models import AsTable, Model, json_of


@dataclass(frozen=True)
class Witness(AsTable):
    """One violating itemset: its labels in code-point order, and its support. Labels are released data. They belong in a
    report for the owner, never in an error message or a log."""

    items: tuple[str, ...]
    support: int


@dataclass(frozen=True)
class SensitiveWitness(Witness):
    """A set of nonsensitive items too many of whose holders hold a sensitive item; ``support`` is that of both together."""

    sensitive: str


@dataclass(frozen=True)
class Verification(AsTable):
    """Whether a promise holds, re-derived from its definition on the frozen rows.

    Attributes:
        model: the promise that was checked.
        verified: whether it holds, which is ``violations == 0``.
        violations: number of violations. Their kind depends on the model (k^m with finite m: minimal threats; m infinite:
            distinct published transactions with fewer than k supersets; transactional k-anonymity: classes of equal
            transactions with fewer than k members).
        across_levels: number of violations for an attacker who combines released items of all levels (k^m-anonymity of
            local recodings, see ``verify_levels``); None if that was not checked.
        item_supports: number of violations in the item supports; None if the release has none.
        witnesses: the first violations by size and labels, up to the requested number.
    """

    model: Model
    verified: bool
    violations: int
    witnesses: tuple[Witness, ...] = ()
    across_levels: int | None = None
    item_supports: int | None = None

    @property
    def all_violations(self) -> int:
        """The violations of the promise, and of the item supports if there are any."""
        return self.violations + (self.item_supports or 0)

    def to_json(self, *, witnesses: bool = False) -> dict[str, Any]:
        """The verification as JSON values; the key ``witnesses`` is optional."""
        said = [name for name in ("across_levels", "item_supports") if getattr(self, name) is not None]
        own = [f.name for f in fields(self)][len(fields(Verification)) :]
        return {
            "model": {"name": self.model.name, **self.model.parameters()},
            **json_of(self, "verified", "violations", *said, *(["witnesses"] if witnesses else []), *own),
        }
