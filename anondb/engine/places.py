"""Places in arrays: of stretches, such as the items of some transactions, and of equal numbers."""

import numpy as np

from anondb.engine.arrays import Ints, Ints32


def stretches(start: Ints | Ints32, length: Ints) -> Ints:
    """The places of all elements of some stretches, by where each stretch starts and how long it is."""
    ends = np.cumsum(length)
    places = np.repeat(start - (ends - length), length)
    places += np.arange(len(places))
    return places


def run_starts(values: Ints | Ints32) -> Ints:
    """The places where runs of equal values start."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def places_of(numbers: Ints | Ints32, n: int) -> list[Ints]:
    """For each number below n, its places in the array, ascending."""
    ends = np.cumsum(np.bincount(numbers, minlength=n))
    return np.split(np.argsort(numbers, kind="stable"), ends[:-1]) if n else []
