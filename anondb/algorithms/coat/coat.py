"""COAT: constraint-based anonymization of transactions (Loukides, Gkoulalas-Divanis and Malin, Algorithm 1;
docs/algorithms/coat.md).

While a privacy constraint is unsatisfied, the algorithm takes the one with the largest support. It generalizes its rarest
item with the item of the same utility constraint that makes the least utility loss UL, or suppresses it if no such
companion exists.

The printed algorithm has three faults (docs/algorithms/coat.md#r1). It suppresses the rest of a constraint that has shrunk
to one generalized item, although that could be generalized further; it never ends when the rarest item can neither be
generalized nor suppressed; and its step 14 reads a variable of another branch. Here a constraint of one item is generalized
as well, the next item is tried, and the rarest is suppressed if no item can be generalized. ``literal=True`` keeps the
printed steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from anondb.algorithms.coat.blocks import Blocks, Weights
from anondb.algorithms.coat.explicit import Explicit
from anondb.algorithms.coat.implicit import Implicit
from anondb.algorithms.coat.mining import mine, occurrences
from anondb.algorithms.coat.weights import ItemWeights, TaxonomyWeights
from anondb.data.constraints import PrivacyConstraints, UtilityConstraints, load_sets, load_weights
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, reads
from anondb.engine.arrays import Ints, run_starts
from anondb.engine.telling import Tell, silent
from anondb.engine.texts import sql
from anondb.errors import InfeasibleError, InputError, quote_list
from anondb.models.transactional import ConstraintAnonymity, KmAnonymity
from anondb.recoding import Decision, GlobalRecoding

LABEL_LENGTH = 200
_PART_LENGTH = 60


class UtilityViolated(InfeasibleError):
    """The algorithm would have to suppress more items than the limit allows."""

    default_code = "utility_violated"

    def __init__(self, message: str, suppressed: tuple[str, ...], *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        # the labels of the items suppressed so far, for the owner; as data they are not in the message
        self.suppressed = suppressed


class _Constraints(Protocol):
    """The privacy constraints of a run, which are told of merges and suppressions and return the next unsatisfied one."""

    def choose(self) -> tuple[Ints, int] | None: ...
    def support(self, blocks: list[int]) -> int: ...
    def merged(self, kept: int, gone: int, support_kept: int, support_gone: int) -> None: ...
    def suppressed(self, block: int) -> None: ...
    def name(self, items: Ints) -> str: ...


@dataclass
class Step:
    """One step of a run: the choice of a ``constraint``, a ``merge`` or a ``suppress``."""

    action: str  # one of the three
    items: tuple[int, ...]  # the constraint's items, or the block's, ascending
    # before, after: the support of the constraint's image before and after the step
    before: int
    after: int
    # base-2 logarithm of UL(D) x N x (2^M - 1) after the step. The exact number would have as many binary digits as the
    # largest group has items.
    loss_log2: float


@dataclass
class Run:
    """Algorithm 1 on prepared arrays."""

    labels: tuple[str, ...]  # label of each item of the data and of the constraints, sorted by code point
    blocks: Blocks  # the generalized items
    constraints: _Constraints  # the privacy constraints
    k: int
    groups: tuple[str, ...]  # names of the utility constraints
    limit: Fraction  # maximal percentage of suppressed items
    literal: bool
    tell: Tell = silent  # is told of the groups of items that are left
    steps: list[Step] = field(default_factory=list)  # the steps so far
    loss: Fraction | int = 0

    def run(self) -> None:
        """Satisfy all constraints in turn (steps 2 to 15)."""
        blocks, step = self.blocks, self._printed_step if self.literal else self._step
        self.loss = sum((blocks.loss(b) for b in range(blocks.n)), start=0)
        while (choice := self.constraints.choose()) is not None:
            items, support = choice
            left = blocks.n - blocks.clock  # each step merges two groups, or suppresses one
            self.tell(f"{left:,} groups of items", 1 - left / blocks.n)
            self._note("constraint", items.tolist(), support)
            image = blocks.image(items)
            while True:
                step(image, items, support)
                image = blocks.image(items)
                support = self.steps[-1].after = self.constraints.support(image)
                if blocks.holds(image, support, self.k):
                    break

    def _step(self, image: list[int], items: Ints, support: int) -> None:
        """Generalize the rarest item with a companion, or suppress a rarer infrequent one (docs/algorithms/coat.md#r2)."""
        blocks = self.blocks
        by_support = sorted(image, key=lambda b: (blocks.support[b], blocks.least[b]))
        for block in by_support:
            if blocks.has_companion(block):
                return self._merge(block, support)
            if blocks.support[block] < self.k:
                return self._suppress(block, items, support)
        self._suppress(by_support[0], items, support)

    def _printed_step(self, image: list[int], items: Ints, support: int) -> None:
        """Perform steps 5 to 10 if several items are left, steps 13 and 14 for the last one."""
        blocks = self.blocks
        rarest = min(image, key=lambda b: (blocks.support[b], blocks.least[b]))
        if len(image) > 1 and blocks.has_companion(rarest):
            self._merge(rarest, support)
        elif len(image) == 1 or blocks.support[rarest] < self.k:
            self._suppress(rarest, items, support)
        else:
            raise InfeasibleError(
                "The printed COAT would never end: the rarest item of "
                f"{self.constraints.name(items)} can be neither generalized nor suppressed.",
                code="no_progress",
                hint="Leave the option literal out.",
            )

    def _merge(self, block: int, support: int) -> None:
        blocks = self.blocks
        other = blocks.companion(block)
        supports = {b: int(blocks.support[b]) for b in (block, other)}
        self.loss -= blocks.loss(block) + blocks.loss(other)
        kept = blocks.merge(block, other)
        gone = other if kept == block else block
        self.loss += blocks.loss(kept)
        self.constraints.merged(kept, gone, supports[kept], supports[gone])
        self._note("merge", sorted(blocks.members[kept]), support)

    def _suppress(self, block: int, items: Ints, support: int) -> None:
        blocks = self.blocks
        members = sorted(blocks.members[block])
        self.loss -= blocks.loss(block)
        blocks.suppress(block)
        self.constraints.suppressed(block)
        self._note("suppress", members, support)
        n_suppressed = len(blocks.suppressed)
        if 100 * n_suppressed > self.limit * blocks.n:
            groups = dict.fromkeys(self.groups[int(blocks.group[i])] for i in blocks.suppressed)
            within = f" within utility constraint {quote_list(list(groups))}" if groups != {"": None} else ""
            raise UtilityViolated(
                f"{n_suppressed} of {blocks.n} items would be suppressed, more than the limit of {float(self.limit):g}"
                f" percent: {self.constraints.name(items)} has support {support}, below k = {self.k}, and cannot be met by"
                f" generalization{within}.",
                tuple(self.labels[i] for i in sorted(blocks.suppressed)),
                hint="Raise --max-suppression, lower k, or let more items be generalized together.",
            )

    def _note(self, action: str, items: list[int], support: int) -> None:
        loss = math.log2(self.loss.numerator) - math.log2(self.loss.denominator) if self.loss > 0 else 0.0
        self.steps.append(Step(action, tuple(items), support, support, loss))


def coat(engine: Engine, dataset: Dataset, model: KmAnonymity | ConstraintAnonymity, **how: Any) -> GlobalRecoding:
    """Satisfy privacy constraints by set-based generalization within utility constraints, and by suppression.

    Args:
        model: k, and for k^m-anonymity m: all m-itemsets are protected unless ``privacy`` says otherwise.
        how: what ``prepare`` takes.

    Returns:
        A recoding whose released items are sets of items. The cost of a decision is the base-2 logarithm of
        UL(D) x N x (2^M - 1) after the step, to six decimals.

    Raises:
        UtilityViolated: too many items would be suppressed; the message names the constraints, not the items.
        InfeasibleError: ``no_progress``, if the printed algorithm would never end.
        BudgetExceeded: m is too large for the longest transactions, or the data are too large for memory.
        InputError: a bad constraint or weight; no privacy constraints for a model that needs them.
    """
    run = prepare(engine, dataset, model, **how)
    run.run()
    return recode(run, dataset)


def prepare(
    engine: Engine,
    dataset: Dataset,
    model: KmAnonymity | ConstraintAnonymity,
    *,
    privacy: Any = None,
    utility: Any = None,
    weights: Any = None,
    max_suppression: int | str | Fraction | None = None,
    literal: bool = False,
) -> Run:
    """Prepare a run of ``coat`` up to the first choice.

    Args:
        privacy: ``PrivacyConstraints``, a source of ``load_sets``, or ``"pgen"``.
        utility: ``UtilityConstraints`` or a source of ``load_sets``; without them, any items may be
            generalized together.
        weights: w of generalized items: a taxonomy, a mapping or table of weights of items; 1 by default.
        max_suppression: the paper's s, the maximal percentage of suppressed items; no limit by default.
        literal: whether to follow the printed algorithm.
    """
    limit = Fraction(100 if max_suppression is None else max_suppression)
    constraint_sets: PrivacyConstraints | None = None
    if isinstance(privacy, str) and privacy == "pgen":
        constraint_sets = pgen(engine, dataset, model.k)
    elif privacy is not None:
        constraint_sets = load_sets(engine, privacy, PrivacyConstraints, dataset)
    elif not isinstance(model, KmAnonymity):
        raise InputError(
            "The model constraints needs privacy constraints.",
            code="no_constraints",
            hint="Give --privacy-constraints TABLE, FILE or pgen.",
        )
    groups = None if utility is None else load_sets(engine, utility, UtilityConstraints, dataset)
    named = {label for sets in (constraint_sets, groups) if sets is not None for label in sets.labels}
    labels = tuple(sorted({*dataset.labels, *named})) if named else dataset.labels
    number = {label: i for i, label in enumerate(labels)}
    of_item = np.array([number[label] for label in dataset.labels], dtype=np.int32)
    group, names = (np.zeros(len(labels), dtype=np.int64), ("",)) if groups is None else groups.groups_of(labels)

    tid, item = occurrences(engine, dataset, of_item)
    blocks = Blocks(len(labels), dataset.n_transactions, tid, item, group, _weights(engine, weights, labels))
    constraints: _Constraints
    if constraint_sets is not None:
        members = np.array([number[label] for label in constraint_sets.labels], dtype=np.int64)[constraint_sets.member]
        constraints = Explicit(blocks, model.k, constraint_sets.start, members, constraint_sets.ids)
    else:
        assert isinstance(model, KmAnonymity)
        m = int(min(model.m, max(dataset.longest, 1))) if model.m == math.inf else int(model.m)
        if m > len(labels):  # too few items for an m-itemset: one constraint of all items (docs/algorithms/coat.md#r7)
            n_constraints = min(len(labels), 1)
            start = np.array([0, len(labels)][: n_constraints + 1], dtype=np.int64)
            constraints = Explicit(blocks, model.k, start, np.arange(len(labels)), ["of all items"] * n_constraints)
        else:
            constraints = Implicit(blocks, model.k, m, mine(engine, dataset, blocks, of_item, model.k, m))
    return Run(labels, blocks, constraints, model.k, names, limit, literal, engine.progress)


def recode(run: Run, dataset: Dataset) -> GlobalRecoding:
    """The recoding of the current blocks, in the order of their smallest items."""
    blocks = run.blocks
    alive = sorted(np.unique(blocks.block_of[blocks.block_of >= 0]).tolist(), key=blocks.least.item)
    released = np.full(blocks.n + 1, -1, dtype=np.int64)
    released[alive] = np.arange(len(alive))
    of_item = released[blocks.block_of]
    place = {label: i for i, label in enumerate(run.labels)}
    members = [sorted(blocks.members[b]) for b in alive]
    decisions = [
        Decision(
            i,
            step.action,
            run.labels[step.items[0]] if len(step.items) == 1 else group_label([run.labels[j] for j in step.items]),
            step.before,
            Fraction(round(step.loss_log2 * 10**6), 10**6),
        )
        for i, step in enumerate((s for s in run.steps if s.action != "constraint"), 1)
    ]
    return GlobalRecoding(
        image=np.array([of_item[place[label]] for label in dataset.labels], dtype=np.int64),
        labels=set_labels(run.labels, members),
        member_of=np.repeat(np.arange(len(alive), dtype=np.int64), [len(m) for m in members] or 0),
        member_labels=tuple(run.labels[i] for m in members for i in m),
        decisions=tuple(decisions),
    )


def group_label(labels: list[str]) -> str:
    """A readable label for a group of sorted items: all of them, or the first few and their number."""
    if len(labels) <= LABEL_LENGTH and sum(map(len, labels)) + len(labels) < LABEL_LENGTH:
        return f"({','.join(labels)})"
    first = (label if len(label) <= _PART_LENGTH else label[:_PART_LENGTH] + "…" for label in labels[:3])
    return f"({','.join(first)},… {len(labels)} items)"


def set_labels(labels: tuple[str, ...], members: list[list[int]]) -> tuple[str, ...]:
    """Labels of sets of items: that of a single item, or a group label, numbered if it would equal another label."""
    single = [len(items) == 1 for items in members]
    names = [
        labels[m[0]] if alone else group_label([labels[i] for i in m]) for m, alone in zip(members, single, strict=True)
    ]
    return distinct(names, single, labels)


def distinct(names: Sequence[str], fixed: Sequence[bool], labels: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered if they would equal another name, except for labels of the data (``fixed``)."""
    taken = {*labels, *(name for name, is_fixed in zip(names, fixed, strict=True) if is_fixed)}
    result = []
    for name, is_fixed in zip(names, fixed, strict=True):
        shown, n = name, 1
        while not is_fixed and shown in taken:
            n += 1
            shown = f"{name} #{n}"
        taken.add(shown)
        result.append(shown)
    return tuple(result)


def _weights(engine: Engine, weights: Any, labels: tuple[str, ...]) -> Weights | None:
    if weights is None or isinstance(weights, Taxonomy):
        return None if weights is None else TaxonomyWeights.of(labels, weights)
    return ItemWeights(labels, load_weights(engine, weights))


def pgen(engine: Engine, dataset: Dataset, k: int) -> PrivacyConstraints:
    """Compute the constraints that make COAT's result k^inf-anonymous, against an attacker who may know any part of any
    transaction (Algorithm 4; docs/algorithms/coat.md#pgen), numbered from 1, the longest first, equally long ones in the
    order of their first transactions; none if every maximal transaction has k copies.

    They are the maximal infrequent itemsets of Definition 5.1: at least one and fewer than k transactions hold them, and
    none holds a proper superset. These are the distinct transactions that no other contains and that have fewer than k
    copies. The paper compares all pairs of transactions; here SQL compares each with those that hold its two rarest items.
    """
    sets = engine.create("pgen_sets", "coat/distinct_sets", {"transactions": dataset.transactions})
    items = engine.create("pgen_items", reads.rows(sets, "id, unnest(items) AS item"))
    anchors = engine.create("pgen_anchors", "coat/anchors", {"set_items": items})
    rows = {"sets": sets, "set_items": items}
    candidates = engine.create("pgen_candidates", "coat/candidates", {**rows, "anchors": anchors}, k=k)
    covered = engine.create("pgen_covered", "coat/covered", {**rows, "candidates": candidates})
    rare = reads.rows(sets, "id", where=sql("copies < {}", k))
    largest = reads.among(rare, covered, "id", "id", absent=True)
    maximal = engine.select(reads.joined(items, largest, "id", "one.id, one.item", order="one.id, one.item"))
    engine.drop(sets, items, anchors, candidates, covered)
    ids, member = maximal["id"].astype(np.int64), maximal["item"].astype(np.int64)
    begins = run_starts(ids)
    start = np.append(begins, len(ids)).astype(np.int64)
    return PrivacyConstraints(tuple(str(i) for i in range(1, len(begins) + 1)), dataset.labels, start, member)
