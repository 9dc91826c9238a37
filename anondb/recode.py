"""Compute the recoding of a policy: run its algorithm, limit suppression, measure the loss, and collect remarks."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from anondb.algorithms.method import Task
from anondb.data.transactions import Dataset
from anondb.engine import Engine, reads
from anondb.errors import InfeasibleError, InternalError
from anondb.models import Model
from anondb.policy import Policy
from anondb.promises import PROMISES
from anondb.recoding import BucketRecoding, GlobalRecoding, LocalRecoding, Recoding, RelationalRecoding
from anondb.release.freeze import FrozenRelease
from anondb.release.objects import SchemaName
from anondb.utility.loss import Loss, global_loss, local_loss, suppressed_items, ul_a_log2


def recode(engine: Engine, policy: Policy, task: Task) -> Recoding:
    """Run the policy's algorithm, and check the limit of suppression. Raises InfeasibleError: more would be suppressed than
    allowed, or everything."""
    where: Any = engine if task.runner is None else task.runner  # algorithms that run there need a Runner only
    recoding = policy.method.run(where, task)
    items = task.requirements.items(task.dataset)
    suppressed = suppressed_items(recoding.items, engine, task.dataset)
    check_suppression(suppressed, task.dataset.n_items, items, policy.max_suppression)
    return recoding


def promised(model: Model, recoding: Recoding) -> Model:
    """Fill in the parameters that are known only after recoding: the column count of an anatomy. Raises InputError: the
    number differs from the model's."""
    completed: Any = getattr(model, "completed", None)
    complete: Model = completed(**recoding.decided) if recoding.decided else model
    return complete


def loss_of(recoding: Recoding, engine: Engine, policy: Policy, task: Task, frozen: FrozenRelease) -> Loss:
    """The information loss of a frozen release, in the measures of its model."""
    if isinstance(recoding, BucketRecoding):
        return Loss()  # items are unchanged; queries and association rules measure the lost links between items
    if isinstance(recoding, RelationalRecoding):
        return Loss(ncp=float(recoding.rum), ul=recoding.tum)
    if isinstance(recoding, LocalRecoding):
        if frozen.cover is None:
            raise InternalError("A local recoding was frozen without its cover.")
        return local_loss(task.dataset, recoding, frozen.cover, task.taxonomy)
    if policy.method.releases != "set":
        return global_loss(task.dataset, recoding, task.taxonomy)
    items = task.requirements.items(task.dataset)
    loss = global_loss(task.dataset, recoding, items=items)
    return replace(loss, ul_log2=_ul_log2(engine, frozen.schema, task.dataset, recoding, items))


def _ul_log2(engine: Engine, schema: SchemaName, dataset: Dataset, recoding: GlobalRecoding, items: int) -> float | None:
    """UL (version A, w = 1), which is defined for sets of items."""
    rows = engine.select(reads.counted(schema.table("transactions"), "item", count="support", order="item"))
    size = dict(zip(recoding.labels, recoding.sizes.tolist(), strict=True))
    sizes = [size[label] for label in rows["item"].tolist()]
    supports = [int(s) for s in rows["support"]]
    return ul_a_log2(sizes, supports, dataset.n_transactions, items) if sizes else None


def check_suppression(suppressed: int, occurring: int, items: int, limit: Fraction | None) -> None:
    """Raise an ``InfeasibleError`` if more than ``limit`` percent of the items are suppressed, or all items that occur
    unless the limit is 100."""
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


def remarks(policy: Policy, task: Task, recoding: Recoding, frozen: FrozenRelease) -> list[str]:
    """Remarks on a release for the owner, beyond its figures."""
    remarks = [*PROMISES[policy.model.name].remarks(policy.model)]
    if task.dataset.n_items and not frozen.released_items:
        remarks.append("Everything was suppressed: the release has no items.")
    remarks += _on_sensitive(task)
    if task.records is not None:
        remarks += task.records.warnings
    remarks += recoding.remarks
    if policy.method.releases == "node" and recoding.one_image and _single_child_on_top(task):
        remarks.append(
            "A node at the top of the taxonomy has a single child: the search stops where one step down does not pay."
        )
    return remarks


def _single_child_on_top(task: Task) -> bool:
    """Whether the root of the taxonomy, or a node below it, has a single child."""
    tree = task.taxonomy
    if tree is None or tree.size == 1:
        return False
    return any(len(list(tree.children(n))) == 1 for n in (0, *tree.children(0)) if not tree.is_leaf[n])


def _on_sensitive(task: Task) -> list[str]:
    """The remark on sensitive items that do not occur in the data, which may be typing errors."""
    if task.sensitive is None:
        return []
    occurring = set(task.dataset.labels)
    absent = sum(label not in occurring for label in task.sensitive)
    return [f"{absent} of {len(task.sensitive)} sensitive items do not occur in the data."] if absent else []
