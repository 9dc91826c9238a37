"""How many items persons have, and how many persons have an item or a value: the figures of the first pictures."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from anondb.data.transactions import Dataset
from anondb.taxonomies.hierarchies import Values, in_order

FREQUENT = 60
VALUES = 14  # of an attribute, or groups of them
_EXACT = 12  # more different lengths are shown in ranges


@dataclass(frozen=True)
class Counts:
    """Counts of the original transactions. They are for their owner."""

    # how many persons have each number of items, ascending; 0 for persons without items
    lengths: tuple[tuple[int, int], ...]
    # the items that most persons have, at most ``FREQUENT`` of them, each with its persons
    frequent: tuple[tuple[str, int], ...]
    # the persons by each attribute: its name, and the values or their groups with their persons
    attributes: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()

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


def counts_of(dataset: Dataset, attributes: Iterable[Values] = ()) -> Counts:
    """The counts of a dataset, and of attributes of its persons."""
    empty = dataset.n_transactions - dataset.non_empty
    lengths = {**({0: empty} if empty else {}), **dataset.lengths}
    first = np.argsort(-dataset.supports, kind="stable")[:FREQUENT].tolist()
    frequent = tuple((dataset.labels[item], int(dataset.supports[item])) for item in first)
    by_value = tuple((values.attribute, tuple(_histogram(values).items())) for values in attributes)
    return Counts(tuple(sorted(lengths.items())), frequent, by_value)


def _histogram(values: Values) -> dict[str, int]:
    """The persons by numbers or dates, in their order, or by the finest of their bands or periods that are few; by the most
    frequent of other values, and the rest together. Who has no value comes last."""
    persons, ordered = Counter(dict(zip(values.labels, values.persons.tolist(), strict=True))), in_order(values)
    shown = Counter[str]()
    if levels := [level for level in zip(*ordered.values(), strict=False) if len(set(level)) <= VALUES]:
        for value, group in zip(ordered, levels[-1], strict=True):
            shown[group] += persons[value]
    else:
        ranked = persons.most_common()
        shown.update(dict(ranked[:VALUES]))
        if others := ranked[VALUES:]:
            shown[f"{len(others):,} other values"] = sum(n for _, n in others)
    return {**shown, **({"no value": values.missing} if values.missing else {})}
