"""How many items persons have, and how many persons have an item or a value: the figures of the first pictures."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from anondb.data.transactions import Dataset
from anondb.guide.look import FREQUENT, Counts
from anondb.taxonomies.hierarchies import Values, in_order

VALUES = 14  # of an attribute, or groups of them


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
