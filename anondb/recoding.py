"""What an algorithm returns: how each item is to be published, and the decisions that led there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from anondb.engine import Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Decision:
    """One step that an algorithm chose, for the owner's ``explain``.

    Attributes:
        step: position, from 1.
        action: ``specialize`` (a node gave way to its children), ``generalize`` (a node took the place of those
            below it), ``merge`` or ``suppress``.
        subject: label of the node or generalized item that was decided on.
        support: the support that forced the decision (of a threat or a constraint), or None where none did.
        cost: information loss after the step, in the algorithm's own measure.
        round_number: round of a multi-round algorithm, from 1.
    """

    step: int
    action: str
    subject: str
    support: int | None
    cost: Fraction
    round_number: int = 1


@dataclass(frozen=True, eq=False, repr=False)
class GlobalRecoding:
    """A global recoding: every item has one image in all transactions, a released item or none (suppressed).

    Attributes:
        image: released item of each item of the data, by item number (``Dataset.labels``); -1 = suppressed.
        labels: label of each released item, by its number; also of those that do not occur in the data.
        member_of, member_labels: the original items that each released item stands for, as two columns of equal length;
            items that never occur in the data but could (other leaves of a taxonomy node) are included.
        decisions: the chosen steps, in order.
    """

    image: Ints
    labels: tuple[str, ...]
    member_of: Ints
    member_labels: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()
    remarks: ClassVar[tuple[str, ...]] = ()
    decided: ClassVar[dict[str, Any]] = {}
    one_image: ClassVar[bool] = True
    semantics: ClassVar[Literal["set"]] = "set"
    values: ClassVar[None] = None

    @property
    def items(self) -> GlobalRecoding:
        """How the items are recoded."""
        return self

    @property
    def sizes(self) -> Ints:
        """How many original items each released item stands for."""
        return np.bincount(self.member_of, minlength=len(self.labels)).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class BucketRecoding:
    """An anatomy: items stay as they are; in each bucket the columns are published apart from each other.

    Attributes:
        column: the column of each item of the data, by item number; columns are numbered from 1.
        bucket: the bucket of each transaction, by tid - 1; buckets are numbered from 1.
        column_names: what each column is called, by its number - 1.
        decisions: the chosen steps, in order.
    """

    column: Ints
    bucket: Ints
    column_names: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()
    remarks: ClassVar[tuple[str, ...]] = ()
    one_image: ClassVar[bool] = False

    @property
    def items(self) -> BucketRecoding:
        """How the items are recoded: not at all."""
        return self

    @property
    def decided(self) -> dict[str, Any]:
        """Parameters of the model that are known only after recoding: the number of columns."""
        return {"columns": self.n_columns}

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.column_names)

    @property
    def sizes(self) -> Ints:
        """How many transactions each bucket holds, by its number - 1."""
        return np.bincount(self.bucket, minlength=1)[1:].astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class LocalRecoding:
    """A local recoding: the same item may have different images in different transactions, so the rows are given.

    Released items may overlap (a node of the taxonomy and one below it, or two sets of items), but under set semantics
    those of one transaction never do: an original item has at most one image in a transaction.

    Attributes:
        transactions: work table ``(tid INTEGER, released INTEGER, copies INTEGER)``, one row for each released item of a
            transaction, by the numbers of ``labels``; a transaction that is published without items has no row.
        incomplete: the numbers of the transactions of every class in which something may have been
            suppressed (``complete`` = false in the release). Readers see it, so it must be constant over whatever the
            model calls a class: the transactions that are published alike for transactional k-anonymity, the relational
            class for (k,k^m)-anonymity, all transactions of a release otherwise.
        labels: label of each released item, by its number; also of those that do not occur.
        member_of, member_labels: the original items that each released item stands for, as two columns of equal length;
            items that never occur in the data but could (other leaves of a taxonomy node) are included.
        semantics: what a row says about the original transaction (docs/algorithms/conventions.md#semantics).
            ``set``: it held a non-empty set of the released item's members; ``copies`` is 1. Partition and LRA use nodes
            of the taxonomy, recodings by clusters sets of items that differ between the clusters.
            ``atomic``: each of the ``copies`` stands for one occurrence of a member, and no two copies of a transaction
            for the same occurrence.
        decisions: the chosen steps, in order; may be empty.
        remarks: what the owner should know about how the algorithm went about it, in sentences without data values.
    """

    transactions: Table
    incomplete: Ints
    labels: tuple[str, ...]
    member_of: Ints
    member_labels: tuple[str, ...]
    semantics: Literal["set", "atomic"] = "set"
    decisions: tuple[Decision, ...] = ()
    remarks: tuple[str, ...] = ()
    decided: ClassVar[dict[str, Any]] = {}
    one_image: ClassVar[bool] = False
    values: ClassVar[None] = None

    @property
    def items(self) -> LocalRecoding:
        """How the items are recoded."""
        return self

    @property
    def sizes(self) -> Ints:
        """How many original items each released item stands for."""
        return np.bincount(self.member_of, minlength=len(self.labels)).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class PublishedAttribute:
    """What becomes of one quasi-identifier in a release, by class.

    Attributes:
        name: its column.
        low, high: ends of each class's range, in units of 1/``scale`` or in microseconds since 1970; None where categories
            are published. They mean nothing where a class has no value at all.
        empty, null: for ranges, whether a class has no value at all, and whether it has a NULL.
        has_null: whether NULL is a value of the attribute.
        sql_type: type of the ends.
        scale: a power of ten for numbers.
        label: what each class publishes, for categories; None for NULL alone.
        value_of, values: what each label stands for, as two columns of equal length; a value None is NULL.
    """

    name: str
    low: Ints | None = None
    high: Ints | None = None
    empty: npt.NDArray[np.bool_] | None = None
    null: npt.NDArray[np.bool_] | None = None
    has_null: bool = False
    sql_type: str = "VARCHAR"
    scale: int = 1
    label: tuple[str | None, ...] = ()
    value_of: tuple[str, ...] = ()
    values: tuple[str | None, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class RelationalRecoding:
    """A local recoding with relational values: one class of equal values for each group of records.

    Attributes:
        items: how the items are recoded.
        classes: work table ``(tid INTEGER, class INTEGER)`` of every transaction, classes from 0.
        attributes: their values.
        sensitive: labels of the sensitive items, which are published as they are.
        rum: NCP of the relational values, the mean over the records, exact.
        tum: UL (version B) of the nonsensitive items, the mean over the records.
        largest: records of the largest cluster.
        clusters: how many clusters there are; several may have the same relational values.
        suppressed: clusters in which generalization alone did not do.
        merged: how many clusters became part of another one because generalization alone did not do.
    """

    items: LocalRecoding
    classes: Table
    attributes: tuple[PublishedAttribute, ...]
    sensitive: tuple[str, ...]
    rum: Fraction
    tum: float
    largest: int
    clusters: int
    suppressed: int
    merged: int = 0
    decided: ClassVar[dict[str, Any]] = {}
    one_image: ClassVar[bool] = False

    @property
    def values(self) -> RelationalRecoding:
        """How the relational values are recoded."""
        return self

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The chosen steps."""
        return self.items.decisions

    def summary(self) -> dict[str, int | float | str]:
        """What the owner's report says beside the losses; Rum is exact."""
        return {
            "rum": str(self.rum),
            "tum": self.tum,
            "clusters": self.clusters,
            "largest_cluster": self.largest,
            "suppressed_clusters": self.suppressed,
            "merged_clusters": self.merged,
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the owner should know about how the algorithm went about it."""
        if not self.suppressed:
            return self.items.remarks
        words = f"In {self.suppressed} of {self.clusters} clusters no generalization of the items would do, so"
        return (*self.items.remarks, f"{words} items were suppressed.")


# Every recoding has ``items`` (how items are recoded), ``decisions``, ``remarks`` (what the owner should know about how the
# algorithm went about it, without data values), ``decided`` (parameters of the model that are known only after recoding) and
# ``one_image`` (whether an item has the same image in all transactions). All but an anatomy have ``values`` (how relational
# values are recoded, or None).
Recoding = GlobalRecoding | LocalRecoding | RelationalRecoding | BucketRecoding
