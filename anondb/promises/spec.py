"""What a model is for the rest of anondb: one value, a ``ModelSpec``.

Stating it imports neither verifiers nor SQL, so that the command line and the refusals know every model at once.
"""

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
    """What a model is checked against beside the published rows.

    Attributes:
        privacy: the privacy constraints of the model constraints, or ``pgen``.
        sensitive: the labels of the private items of hkp, or of the sensitive items of transactions that are no release.
        original: the data that the release was made from, where they are at hand; only the check of an anatomy reads them.
    """

    privacy: PrivacyConstraints | str | None = None
    sensitive: tuple[str, ...] | None = None
    original: Dataset | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """Published transactions that a verifier looks at, coded as integers, inside a transaction.

    Attributes:
        engine: the engine.
        transactions: ``(tid, item)``, each pair once; of an anatomy the buckets.
        items: ``(item, label)``; an anatomy needs none.
        knowledge: what the model is checked against besides.
        released_items: ``(released_item, item)``, which original items the released ones stand for; None where each item
            stands for itself.
        release: the rows of a release; None for transactions that are none.
        schema: of the release.
        dataset: the transactions as they were read, where they are no release.
        classes: ``(tid, class)``, persons with equal relational values, where the transactions are no release.
        local: whether labels of several levels may stand for the same item.
    """

    engine: Engine
    transactions: Any
    items: Any
    knowledge: Knowledge = field(default_factory=Knowledge)
    released_items: Table | None = None
    release: CodedRelease | None = None
    schema: SchemaName | None = None
    dataset: Dataset | None = None
    classes: Table | None = None
    local: bool = False


@dataclass(frozen=True)
class Shown:
    """What a proof has beside the manifest.

    Attributes:
        privacy: the owner's privacy constraints (``pgen`` for those of Pgen), if they may leave the house.
        private: the owner's private items, likewise.
        values: the columns of the release's relational values.
    """

    privacy: PrivacyConstraints | str | None = None
    private: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def promises_nothing(model: Any) -> tuple[str, ...]:
    """The remark on k = 1, for the owner."""
    return ("k = 1 promises nothing: every item is released as it is.",) if model.k == 1 else ()


@dataclass(frozen=True, eq=False, repr=False)
class ModelSpec:
    """A model.

    Attributes:
        model: its definition: a frozen dataclass with its parameters, their defaults, and the layout of its releases.
        verify: the verifier: ``(subject, model, witnesses)``. It re-derives the promise from the definition.
        proof: the query over a sealed file whose rows are the violations: ``(manifest, shown)``.
        claims: what the page of the proof pack says that the proof shows, and from what.
        needs: options that state the promise together with the parameters; other models do not take them.
        takes: such options that it can do without.
        implied_by: names of stronger models, whose algorithms keep this one, too.
        remarks: what the owner should know about the parameters.
        relational: whether the promise is about persons with relational values, so that weights are those of attributes.
    """

    model: type[Model]
    verify: Callable[[Subject, Any, int], Verification]
    proof: Callable[[Mapping[str, str], Shown], exp.Query]
    claims: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    implied_by: tuple[str, ...] = ()
    relational: bool = False
    remarks: Callable[[Any], tuple[str, ...]] = promises_nothing

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, and how each is set."""
        return parameters_of(self.name)


def missing(model: Model, what: str, code: str, hint: str) -> InputError:
    """The refusal of a check that lacks what the model is checked against."""
    return InputError(f"The model {model.name} is checked against {what}.", code=code, hint=hint)
