"""The results of algorithms: how each item is published, and the decisions that led there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np

from anondb.engine import Table
from anondb.engine.arrays import Flags, Ints


@dataclass(frozen=True)
class Decision:
    """One step of an algorithm, for the owner's ``explain``."""

    step: int  # position, from 1
    # ``specialize`` (the children of a node replaced it), ``generalize`` (a node replaced the nodes below it),
    # ``merge`` or ``suppress``
    action: str
    subject: str  # label of the node or generalized item
    support: int | None  # the support of the threat or constraint that forced the decision, or None
    cost: Fraction  # information loss after the step, in the algorithm's own measure
    round_number: int = 1  # the round of the algorithm, from 1


class _Members:
    """What recodings of items have in common."""

    labels: tuple[str, ...]
    member_of: Ints
    decided: ClassVar[dict[str, Any]] = {}
    values: ClassVar[None] = None

    @property
    def items(self) -> Self:
        """The recoding of the items."""
        return self

    @property
    def sizes(self) -> Ints:
        """The number of original items that each released item stands for."""
        return np.bincount(self.member_of, minlength=len(self.labels)).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class GlobalRecoding(_Members):
    """A global recoding: every item has the same image in all transactions, a released item or none (suppressed)."""

    image: Ints  # released item of each item of the data, by item number (``Dataset.labels``); -1 if suppressed
    labels: tuple[str, ...]  # label of each released item, by its number, including those that do not occur in the data
    # member_of, member_labels: the original items that each released item stands for, as two columns of equal length;
    # items that never occur in the data but could (other leaves of a taxonomy node) are included
    member_of: Ints
    member_labels: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()  # the chosen steps, in order
    remarks: ClassVar[tuple[str, ...]] = ()
    one_image: ClassVar[bool] = True
    semantics: ClassVar[Literal["set"]] = "set"


@dataclass(frozen=True, eq=False, repr=False)
class BucketRecoding:
    """An anatomy: items stay unchanged, and the columns of each bucket are published separately."""

    column: Ints  # the column of each item of the data, by item number; columns are numbered from 1
    bucket: Ints  # the bucket of each transaction, by tid - 1; buckets are numbered from 1
    column_names: tuple[str, ...]  # the name of each column, by its number - 1
    decisions: tuple[Decision, ...] = ()  # the chosen steps, in order
    remarks: ClassVar[tuple[str, ...]] = ()
    one_image: ClassVar[bool] = False

    @property
    def items(self) -> BucketRecoding:
        """The recoding of the items, which leaves them unchanged."""
        return self

    @property
    def decided(self) -> dict[str, Any]:
        """Parameters of the model that are known only after recoding: the number of columns."""
        return {"columns": self.n_columns}

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.column_names)

    @property
    def sizes(self) -> Ints:
        """The number of transactions in each bucket, by its number - 1."""
        return np.bincount(self.bucket, minlength=1)[1:].astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class LocalRecoding(_Members):
    """A local recoding: an item may have different images in different transactions, so it consists of rows. Released items
    may overlap (a node of the taxonomy and one below it, or two sets of items). Under set semantics those of one transaction
    never do: an original item has at most one image in a transaction."""

    # work table ``(tid INTEGER, released INTEGER, copies INTEGER)``, one row for each released item of a transaction,
    # by the numbers of ``labels``; a transaction published without items has no row
    transactions: Table
    # the numbers of the transactions of every class with possible suppressions (``complete`` = false in the release).
    # Readers see it, so it must be constant over a class of the model: the transactions published alike for
    # transactional k-anonymity, the relational class for (k,k^m)-anonymity, else all transactions of a release.
    incomplete: Ints
    labels: tuple[str, ...]  # label of each released item, by its number, including those that do not occur
    # member_of, member_labels: the original items that each released item stands for, as two columns of equal length;
    # items that never occur in the data but could (other leaves of a taxonomy node) are included
    member_of: Ints
    member_labels: tuple[str, ...]
    # what a row implies for the original transaction (docs/algorithms/conventions.md#semantics). ``set``: it held a
    # non-empty set of the released item's members; ``copies`` is 1. Partition and LRA use nodes of the taxonomy,
    # recodings by clusters sets of items that differ between the clusters. ``atomic``: each of the ``copies`` stands
    # for one occurrence of a member; no two copies of a transaction stand for the same occurrence.
    semantics: Literal["set", "atomic"] = "set"
    decisions: tuple[Decision, ...] = ()  # the chosen steps, in order; may be empty
    remarks: tuple[str, ...] = ()  # sentences for the owner on the run of the algorithm, without data values
    one_image: ClassVar[bool] = False


@dataclass(frozen=True, eq=False, repr=False)
class PublishedAttribute:
    """The published values of one quasi-identifier, by class."""

    name: str  # name of its column
    # low, high: ends of each class's range, in units of 1/``scale`` or in microseconds since 1970; None for categories.
    # They are undefined for a class without values.
    low: Ints | None = None
    high: Ints | None = None
    # empty, null: for ranges, whether a class has no value, and whether it has a NULL
    empty: Flags | None = None
    null: Flags | None = None
    has_null: bool = False  # whether any record has a NULL
    sql_type: str = "VARCHAR"  # type of the ends
    type: str = "VARCHAR"  # the type of its column that the manifest names
    scale: int = 1  # a power of ten for numbers
    label: tuple[str | None, ...] = ()  # for categories, the published label of each class; None if it holds NULL alone
    # value_of, values: the labels and the values that they stand for, as two columns of equal length; None is NULL
    value_of: tuple[str, ...] = ()
    values: tuple[str | None, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class RelationalRecoding:
    """A local recoding with relational values: each group of records is a class with equal values."""

    items: LocalRecoding  # the recoding of the items
    classes: Table  # work table ``(tid INTEGER, class INTEGER)`` of every transaction, classes from 0
    attributes: tuple[PublishedAttribute, ...]  # the published values of the classes
    sensitive: tuple[str, ...]  # labels of the sensitive items, which are published unchanged
    rum: Fraction  # NCP of the relational values, the mean over the records, exact
    tum: float  # UL (version B) of the nonsensitive items, the mean over the records
    largest: int  # number of records of the largest cluster
    clusters: int  # number of clusters; several may have the same relational values
    suppressed: int  # number of clusters in which generalization alone was not enough, so items were suppressed
    merged: int = 0  # number of clusters that were merged into another because generalization alone was not enough
    decided: ClassVar[dict[str, Any]] = {}
    one_image: ClassVar[bool] = False

    @property
    def values(self) -> RelationalRecoding:
        """The recoding of the relational values."""
        return self

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The chosen steps."""
        return self.items.decisions

    def summary(self) -> dict[str, int | float | str]:
        """The figures of the owner's report beside the losses; Rum is exact."""
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
        """Sentences for the owner on the run of the algorithm."""
        if not self.suppressed:
            return self.items.remarks
        words = f"In {self.suppressed} of {self.clusters} clusters generalizing items was not enough, so"
        return (*self.items.remarks, f"{words} items were suppressed.")


# Every recoding has ``items`` (the recoding of the items), ``decisions``, ``remarks`` (sentences for the owner, without
# data values), ``decided`` (parameters of the model that are known only after recoding) and ``one_image`` (whether an item
# has the same image in all transactions). All but an anatomy have ``values`` (the recoding of relational values, or None).
Recoding = GlobalRecoding | LocalRecoding | RelationalRecoding | BucketRecoding
