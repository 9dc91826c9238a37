"""The random numbers of worlds: integers that follow from the file alone, the same in SQL, in NumPy and in every version.

* ``h(a, b, c)`` is a hash of three whole numbers, each from 0 to 2^32 - 1; so is the result (``sql/answers/hashes.sql``).
* ``uniform(a, b, c) = (h(a, b, c) + 1/2) / 2^32`` is a number between 0 and 1.
* ``perm(j; s, a, b)`` takes 0..s-1 to a permutation of it for each a >= 1 and b, without sorting:
  ``(a j + floor(j / cycle) + b) mod s`` with ``cycle = s / gcd(a, s)``, after so many steps ``a j mod s`` comes back to 0.

The argument c is a salt, different for each use, plus the seed: the first 32 bits of the release's content digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.engine import load
from anondb.engine.arrays import Floats, Ints

Numbers = int | npt.NDArray[Any]

MASK = (1 << 32) - 1
FIRSTS, OTHERS_STEP, OTHERS_SHIFT, STEP, SHIFT, TURN, RACE = 1, 7, 8, 11, 12, 13, 21
"""Salts: of the fractions that are rounded, of the permutation of other positions, of that of rows (three), of the race."""
SUPPORTED, BINOMIAL, GAMMA = 401, (402, 403), (404, 405, 406)
MEMBERS, BASKETS, POWER, MASKED, PAIRED = 407, 408, 409, 410, 411
"""Salts of other worlds: of numbers of holders with item supports, and without (two, and three for the chances of items); of
the orders of members and of transactions, of the power of lengths, of groups and of pairs that are masked again."""


def h(a: Numbers, b: Numbers, c: Numbers) -> Ints:
    """The hash of whole numbers, or of arrays of them; only their last 32 bits matter."""

    def times(value: Any, factor: int) -> Any:
        return (value * np.uint64(factor)) & np.uint64(MASK)

    a, b, c = (np.asarray(value, dtype=np.int64).astype(np.uint64) & np.uint64(MASK) for value in (a, b, c))
    v = (times(a, 2654435761) + times(b, 2246822519) + times(c, 3266489917)) & np.uint64(MASK)
    v = times(v ^ (v >> np.uint64(16)), 2146121005)
    return np.asarray(times(v ^ (v >> np.uint64(15)), 2221713035)).astype(np.int64)


def uniform(a: Numbers, b: Numbers, c: Numbers) -> Floats:
    """The hash as a number between 0 and 1."""
    return np.asarray((h(a, b, c) + 0.5) / 2**32)


def cycle(size: Ints, a: Ints) -> Ints:
    """After how many steps a permutation of ``size`` places would begin again: ``perm`` moves it on by one then."""
    return np.asarray(size // np.gcd(a, size), dtype=np.int64)


def seed_of(content_digest: str) -> int:
    """The first 32 bits of a content digest, with or without its prefix ``content:``."""
    return int(content_digest.rpartition(":")[2][:8], 16)


def hashed(arguments: exp.Query, keep: Sequence[str]) -> exp.Query:
    """A query for the hash ``h`` of the columns a, b and c of another query, with further columns of it that are kept."""
    query = load("answers/hashes")
    tree = query.tree.copy()
    for select in tree.find_all(exp.Select):
        source = select.args["from_"].this.name
        select.set("expressions", [*(exp.column(name, source) for name in keep), *select.expressions])
    return query.bind({"arguments": arguments}, {}, tree)
