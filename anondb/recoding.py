"""What an algorithm returns: how each item is to be published, and the decisions that led there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

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

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.column_names)

    @property
    def sizes(self) -> Ints:
        """How many transactions each bucket holds, by its number - 1."""
        return np.bincount(self.bucket, minlength=1)[1:].astype(np.int64)


Recoding = GlobalRecoding | BucketRecoding
