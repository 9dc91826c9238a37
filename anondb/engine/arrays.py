"""The types of arrays, by what they hold; and places in arrays: of stretches, such as the items of some transactions."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def stretches(start: Ints | Ints32, length: Ints) -> Ints:
    """The places of all elements of some stretches, by where each stretch starts and how long it is."""
    places = np.repeat(start - (np.cumsum(length) - length), length)
    places += np.arange(len(places))
    return places


def run_starts(values: Ints | Ints32) -> Ints:
    """The places where runs of equal values start."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def places_of(numbers: Ints | Ints32, n: int) -> list[Ints]:
    """For each number below n, its places in the array, ascending."""
    ends = np.cumsum(np.bincount(numbers, minlength=n))
    return np.split(np.argsort(numbers, kind="stable"), ends[:-1]) if n else []
