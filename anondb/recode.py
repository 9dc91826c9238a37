"""From a policy to its recoding and what that costs: which algorithm runs, and what it may suppress."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING

from anondb.data.stated import Stated
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.errors import InfeasibleError, InternalError
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.models.constraints import ConstraintAnonymity
from anondb.models.hkp import HkpCoherence
from anondb.models.km import KmAnonymity
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import TransactionalK
from anondb.policy import Policy
from anondb.recoding import BucketRecoding, GlobalRecoding, LocalRecoding, Recoding, RelationalRecoding
from anondb.release.freeze import FrozenRelease
from anondb.release.objects import SchemaName
from anondb.utility import Loss, global_loss, local_loss, suppressed_items, ul_a_log2

if TYPE_CHECKING:
    from anondb.data.records import Records

SET_BASED = ("coat", "pcta")  # generalized items are sets of items, not nodes of the taxonomy


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """The sources of a policy, each read once.

    Attributes:
        dataset: the transactions.
        taxonomy: of their items, if the policy names one.
        stated: constraints, weights and countable sets.
        sensitive: the private items of hkp, the sensitive ones of kkm and klm, which need not occur; None where none were
            named.
        records: the quasi-identifiers, for models of relational and transaction data.
        records_reference: the table or view of the records; None where there are none, or a file or a data frame.
    """

    dataset: Dataset
    taxonomy: Taxonomy | None = None
    stated: Stated = field(default_factory=Stated)
    sensitive: tuple[str, ...] | None = None
    records: Records | None = None
    records_reference: Table | None = None


def import_algorithm(policy: Policy) -> None:
    """Import the policy's algorithm: a command needs one of them, so none is imported at the start."""
    relational = isinstance(policy.model, KkmAnonymity | KlmDiversity)
    import_module(f"anondb.algorithms.{'rt' if relational else policy.algorithm}")


def recode(engine: Engine, policy: Policy, loaded: Loaded) -> Recoding:
    """Run the policy's algorithm, and hold it to the limit of suppression.

    Raises:
        InfeasibleError: more would be suppressed than allowed, or everything.
    """
    recoding = _run(engine, policy, loaded)
    if isinstance(recoding, BucketRecoding):
        return recoding
    items = loaded.stated.items(loaded.dataset)
    if isinstance(recoding, GlobalRecoding):
        suppressed = int((recoding.image < 0).sum())
    elif isinstance(recoding, RelationalRecoding):
        suppressed = suppressed_items(engine, loaded.dataset, recoding.items)
    else:
        suppressed = suppressed_items(engine, loaded.dataset, recoding)
    _check_suppression(suppressed, loaded.dataset.n_items, items, policy.max_suppression)
    return recoding


def _run(engine: Engine, policy: Policy, loaded: Loaded) -> Recoding:
    match policy.algorithm, policy.model, loaded:
        case "mhghs", KmAnonymity() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.mhghs import mhghs

            return mhghs(engine, dataset, taxonomy, model)
        case "hghs", KmAnonymity() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.hghs import hghs

            return hghs(engine, dataset, taxonomy, model)
        case "coat", KmAnonymity() | ConstraintAnonymity() as model, Loaded(dataset, _, stated):
            from anondb.algorithms.coat import coat

            return coat(
                engine,
                dataset,
                model,
                privacy=stated.privacy,
                utility=stated.utility,
                weights=stated.weights,
                max_suppression=policy.max_suppression,
                literal=policy.literal,
            )
        case "apriori", KmAnonymity() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.apriori import apriori

            return apriori(engine, dataset, taxonomy, model)
        case "lra", KmAnonymity() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.lra import lra

            return lra(engine, dataset, taxonomy, model)
        case "vpa", KmAnonymity() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.vpa import vpa

            return vpa(engine, dataset, taxonomy, model)
        case "pcta", KmAnonymity() | ConstraintAnonymity() as model, Loaded(dataset, _, stated):
            from anondb.algorithms.pcta import pcta

            return pcta(engine, dataset, model, privacy=stated.privacy, weights=stated.weights)
        case "mm", KmAnonymity() | HkpCoherence() as model, Loaded(dataset):
            from anondb.algorithms.mm import mm

            return mm(engine, dataset, model, private=loaded.sensitive or ())
        case "partition", TransactionalK() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.partition import partition

            return partition(engine, dataset, taxonomy, model, empty=policy.empty_transactions or "absorb")
        case "clump", TransactionalK() as model, Loaded(dataset, Taxonomy() as taxonomy):
            from anondb.algorithms.clump import clump

            return clump(
                engine,
                dataset,
                taxonomy,
                model,
                bags=dataset.bags,
                empty=policy.empty_transactions or "absorb",
                objective=policy.objective or "total",
                candidates=policy.candidates,
            )
        case str() as algorithm, KkmAnonymity() | KlmDiversity() as model, Loaded(
            dataset, taxonomy, _, sensitive, records
        ) if records is not None:
            from anondb.algorithms.rt import relational

            return relational(
                engine,
                dataset,
                records,
                model,
                algorithm,
                delta=policy.delta,
                taxonomy=taxonomy,
                sensitive=frozenset(sensitive or ()),
                infeasible=policy.infeasible or "suppress",
            )
        case "multi_anatomy", Anatomy() as model, Loaded(dataset):
            from anondb.algorithms.multi_anatomy import multi_anatomy

            return multi_anatomy(
                engine,
                dataset,
                model,
                None if isinstance(policy.columns, int) else policy.columns,
                correlation=policy.correlation or "truncated",
                spread=policy.spread,
            )
    raise InternalError(f"The algorithm {policy.algorithm} has no case here.")


def promised(model: Model, recoding: Recoding) -> Model:
    """The model with what only the recoding says: into how many columns the owner's file divides the items.

    Raises:
        InputError: that is another number than the model's.
    """
    if not isinstance(model, Anatomy) or not isinstance(recoding, BucketRecoding):
        return model
    return model.completed(recoding.n_columns, None)


def loss_of(engine: Engine, policy: Policy, loaded: Loaded, recoding: Recoding, frozen: FrozenRelease) -> Loss:
    """What a frozen release costs, in the measures that its model has.

    Args:
        engine: the engine.
        policy, loaded, recoding: how the release came about.
        frozen: the release.
    """
    if isinstance(recoding, BucketRecoding):
        return Loss()  # every item is released as it is; what is lost are links, which queries and rules show
    if isinstance(recoding, RelationalRecoding):
        return Loss(ncp=float(recoding.rum), ul=recoding.tum)
    if isinstance(recoding, LocalRecoding):
        if frozen.cover is None:
            raise InternalError("A local recoding was frozen without its cover.")
        return local_loss(engine, loaded.dataset, recoding, frozen.cover, loaded.taxonomy)
    if policy.algorithm not in SET_BASED:
        return global_loss(loaded.dataset, recoding, loaded.taxonomy)
    items = loaded.stated.items(loaded.dataset)
    loss = global_loss(loaded.dataset, recoding, items=items)
    return replace(loss, ul_log2=_ul_log2(engine, frozen.schema, loaded.dataset, recoding, items))


def _ul_log2(
    engine: Engine, schema: SchemaName, dataset: Dataset, recoding: GlobalRecoding, items: int
) -> float | None:
    """UL (version A, w = 1), which is defined for sets of items."""
    found = engine.query("release/label_supports", {"transactions": schema.table("transactions")})
    size = dict(zip(recoding.labels, recoding.sizes.tolist(), strict=True))
    sizes = [size[label] for label in found["item"].tolist()]
    supports = [int(s) for s in found["support"]]
    return ul_a_log2(sizes, supports, dataset.n_transactions, items) if sizes else None


def _check_suppression(suppressed: int, occurring: int, items: int, limit: Fraction | None) -> None:
    """Refuse what suppresses more than ``limit`` percent of the items, or everything that occurs unless 100 percent are
    allowed."""
    if not suppressed:
        return
    if limit is not None and Fraction(100 * suppressed, items) > limit:
        raise InfeasibleError(
            f"{suppressed} of {items} items would have to be suppressed, more than {float(limit):g} percent.",
            code="too_much_suppression",
            hint="Raise --max-suppression, or lower k or m.",
        )
    if suppressed == occurring and limit != 100:
        raise InfeasibleError(
            "Every item would have to be suppressed.",
            code="all_suppressed",
            hint="Lower k or m, or say --max-suppression 100 if that is wanted.",
        )


def remarks(policy: Policy, loaded: Loaded, recoding: Recoding, frozen: FrozenRelease) -> list[str]:
    """What the owner should know about a release beyond its figures."""
    remarks = [] if isinstance(recoding, GlobalRecoding | BucketRecoding) else list(recoding.remarks)
    dataset, taxonomy = loaded.dataset, loaded.taxonomy
    if getattr(policy.model, "k", None) == 1:
        remarks.append("k = 1 promises nothing: every item is released as it is.")
    if isinstance(policy.model, Anatomy):
        if policy.model.l == 1:
            remarks.append("l = 1 promises nothing: a column of a bucket may hold a single value.")
        if policy.model.empty_values == "ignore":
            remarks.append(
                "Empty values are ignored: that somebody has no item of a column may be inferred with more than 1/l."
            )
    if dataset.n_items and not frozen.released_items:
        remarks.append("Everything was suppressed: the release holds no item.")
    remarks += _on_sensitive(loaded)
    if loaded.records is not None:
        remarks += loaded.records.warnings
        if isinstance(recoding, RelationalRecoding) and recoding.suppressed:
            remarks.append(
                f"In {recoding.suppressed} of {recoding.clusters} clusters no generalization of the items would do, so"
                " items were suppressed."
            )
    if policy.algorithm in (*SET_BASED, "mm") or not isinstance(recoding, GlobalRecoding):
        return remarks
    if (
        taxonomy is not None
        and taxonomy.size > 1
        and any(
            len(list(taxonomy.children(node))) == 1 for node in (0, *taxonomy.children(0)) if not taxonomy.is_leaf[node]
        )
    ):
        remarks.append(
            "A node at the top of the taxonomy has a single child: the search stops where one step down does not pay."
        )
    return remarks


def _on_sensitive(loaded: Loaded) -> list[str]:
    """Sensitive items that cannot mean what the owner thinks."""
    if loaded.sensitive is None:
        return []
    occurring = set(loaded.dataset.labels)
    absent = sum(label not in occurring for label in loaded.sensitive)
    return [f"{absent} of {len(loaded.sensitive)} sensitive items do not occur in the data."] if absent else []
