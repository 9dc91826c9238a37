"""What an algorithm returns: how each item is to be published, and the decisions that led there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

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


@dataclass(frozen=True)
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

    @property
    def sizes(self) -> Ints:
        """How many original items each released item stands for."""
        return np.bincount(self.member_of, minlength=len(self.labels)).astype(np.int64)


@dataclass(frozen=True)
class LocalRecoding:
    """A local recoding: the same item may have different images in different transactions, so the rows are given.

    Released items may overlap (a node of the taxonomy and one below it, or two sets of items), but under set semantics
    those of one transaction never do: an original item has at most one image in a transaction.

    Attributes:
        transactions: work table ``(tid INTEGER, released INTEGER, copies INTEGER)``, one row for each released item of a
            transaction, by the numbers of ``labels``; a transaction that is published without items has no row.
        incomplete: work table ``(tid INTEGER)``: the transactions of every class in which something may have been
            suppressed (``complete`` = false in the release). Readers see it, so it must be constant over whatever the
            model calls a class: the transactions that are published alike for transactional k-anonymity, the relational
            class for (k,k^m)-anonymity, all transactions of a release otherwise.
        labels: label of each released item, by its number; also of those that do not occur.
        member_of, member_labels: the original items that each released item stands for, as two columns of equal length;
            items that never occur in the data but could (other leaves of a taxonomy node) are included.
        semantics: what a row says about the original transaction (spec 0.3).
            ``set``: it held a non-empty set of the released item's members; ``copies`` is 1. Partition and LRA use nodes
            of the taxonomy, recodings by clusters sets of items that differ between the clusters.
            ``atomic``: each of the ``copies`` stands for one occurrence of a member, and no two copies of a transaction
            for the same occurrence.
        decisions: the chosen steps, in order; may be empty.
        remarks: what the owner should know about how the algorithm went about it, in sentences without data values.
    """

    transactions: Table
    incomplete: Table
    labels: tuple[str, ...]
    member_of: Ints
    member_labels: tuple[str, ...]
    semantics: Literal["set", "atomic"] = "set"
    decisions: tuple[Decision, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def sizes(self) -> Ints:
        """How many original items each released item stands for."""
        return np.bincount(self.member_of, minlength=len(self.labels)).astype(np.int64)


Recoding = GlobalRecoding | LocalRecoding
