"""``ModelSpec``: a model with its verifier, proof and options. Importing this module loads neither verifiers nor SQL, which
keeps the command line fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anondb.errors import InputError
from anondb.models import Model, Parameter
from anondb.models.named import parameters_of

if TYPE_CHECKING:
    from sqlglot import exp

    from anondb.data.constraints import PrivacyConstraints
    from anondb.data.transactions import Dataset
    from anondb.engine import Engine, Table
    from anondb.release.coded import CodedRelease
    from anondb.release.objects import SchemaName
    from anondb.verify import Verification


@dataclass(frozen=True, eq=False, repr=False)
class Knowledge:
    """The inputs of a check other than the published rows."""

    privacy: PrivacyConstraints | str | None = None  # the privacy constraints of the model constraints, or ``pgen``
    # the labels of the private items of hkp, or of the sensitive items of unreleased transactions
    sensitive: tuple[str, ...] | None = None
    original: Dataset | None = None  # the original data, if available; only the check of an anatomy reads them


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """The published transactions that a verifier checks, coded as integers, inside a transaction."""

    engine: Engine
    transactions: Any  # ``(tid, item)``, each pair once; for an anatomy, the buckets
    items: Any  # ``(item, label)``; None for an anatomy
    knowledge: Knowledge = field(default_factory=Knowledge)  # the other inputs of the check
    # ``(released_item, item)``, the original items of each released item; None if each item stands for itself
    released_items: Table | None = None
    release: CodedRelease | None = None  # the rows of a release; None for unreleased transactions
    schema: SchemaName | None = None  # the schema of the release
    dataset: Dataset | None = None  # the unreleased transactions; None for a release
    classes: Table | None = None  # ``(tid, class)``, the relational classes of unreleased transactions
    local: bool = False  # whether labels of several levels may stand for the same item


@dataclass(frozen=True)
class Shown:
    """The inputs of a proof other than the manifest."""

    # the owner's privacy constraints (``pgen`` for those of Pgen), if they may be published
    privacy: PrivacyConstraints | str | None = None
    private: tuple[str, ...] = ()  # the owner's private items, if they may be published
    values: tuple[str, ...] = ()  # the columns of the release's relational values


Proof = Callable[[Mapping[str, str], Shown], "exp.Query"]  # from the manifest


def proof_named(name: str, manifest: Mapping[str, str], shown: Shown) -> exp.Query:
    """Build the query of this name in ``anondb.promises.proofs``, which is imported here."""
    from anondb.promises import proofs

    built: exp.Query = getattr(proofs, name)(manifest, shown)
    return built


def promises_nothing(model: Any) -> tuple[str, ...]:
    """The remark for the owner if k = 1."""
    return ("k = 1 promises nothing: every item is released unchanged.",) if model.k == 1 else ()


@dataclass(frozen=True, eq=False, repr=False)
class ModelSpec:
    """A model and everything derived from it."""

    # the definition: a frozen dataclass with its parameters, their defaults, and the layout of its releases
    model: type[Model]
    # the verifier ``(subject, model, witnesses)``; it re-derives the promise from the definition
    verify: Callable[[Subject, Any, int], Verification]
    proof: Proof  # builds the query over a sealed file that returns the violations
    claims: str  # the proof pack's list of what the proof shows, and from which inputs
    # covered, uncovered: the attackers that the promise covers, and those that it does not, as sentences with the names
    # of parameters in braces; ``{known}`` is what an attacker may know (``covers``)
    covered: str = ""
    uncovered: str = ""
    needs: tuple[str, ...] = ()  # required options that belong to the promise; other models do not take them
    takes: tuple[str, ...] = ()  # optional options that belong to the promise
    implied_by: tuple[str, ...] = ()  # the names of stronger models, whose algorithms also keep this promise
    relational: bool = False  # whether the promise covers relational values; ``weights`` are then weights of attributes
    remarks: Callable[[Any], tuple[str, ...]] = promises_nothing  # returns remarks on the parameters for the owner
    # returns how many items an attacker may know by the rule of item supports; None for any number
    known_items: Callable[[Any], int | None] = lambda _: None
    # why releases under the model cannot have item supports
    no_item_supports: str = "nobody has shown that its promise survives them"

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def covers(self, parameters: Mapping[str, Any] | None = None) -> tuple[str, str]:
        """``covered`` and ``uncovered`` with the values of the parameters, or with their letters."""
        values = {name: name for name in self.parameters} if parameters is None else dict(parameters)
        most = str(values.get("m", values.get("p")))
        items = {"inf": "any number of items", "1": "one item"}.get(most, f"up to {most} items")
        return self.covered.format(known=items, **values), self.uncovered.format(known=items, **values)

    def check_item_supports(self) -> None:
        """Check that releases under the model may have item supports. Raises InputError: ``no_item_supports``."""
        if not self.model.supports:
            raise InputError(
                f"A release under the model {self.name} cannot have item supports: {self.no_item_supports}.",
                code="no_item_supports",
                hint="Leave them out, or choose the model km.",
            )

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The description of each parameter, by name."""
        return parameters_of(self.name)


def missing(model: Model, what: str, code: str, hint: str) -> InputError:
    """The error of a check that lacks an input of the model."""
    return InputError(f"The model {model.name} is checked against {what}.", code=code, hint=hint)
