"""How many items persons have, and how many persons have an item: the figures of the first pictures of transactions."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from anondb.data.transactions import Dataset

FREQUENT = 60
_EXACT = 12  # more different lengths are shown in ranges


@dataclass(frozen=True)
class Counts:
    """Counts of the original transactions. They are for their owner."""

    # how many persons have each number of items, ascending; 0 for persons without items
    lengths: tuple[tuple[int, int], ...]
    # the items that most persons have, at most ``FREQUENT`` of them, each with its persons
    frequent: tuple[tuple[str, int], ...]

    def ranges(self) -> dict[str, int]:
        """The persons by their number of items; in ranges that double if there are many different numbers."""
        if len(self.lengths) <= _EXACT:
            return {f"{length:,}": persons for length, persons in self.lengths}
        doubled = groupby(self.lengths, key=lambda pair: (pair[0] - 1).bit_length() if pair[0] else -1)
        return {_name(bits): sum(persons for _, persons in pairs) for bits, pairs in doubled}


def _name(bits: int) -> str:
    """The range of the numbers of items above half of ``2**bits``, up to that; 0 below."""
    low, high = (2 ** (bits - 1) + 1, 2**bits) if bits > 0 else (bits + 1, bits + 1)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def counts_of(dataset: Dataset) -> Counts:
    """The counts of a dataset."""
    empty = dataset.n_transactions - dataset.non_empty
    lengths = {**({0: empty} if empty else {}), **dataset.lengths}
    first = np.argsort(-dataset.supports, kind="stable")[:FREQUENT].tolist()
    frequent = tuple((dataset.labels[item], int(dataset.supports[item])) for item in first)
    return Counts(tuple(sorted(lengths.items())), frequent)
