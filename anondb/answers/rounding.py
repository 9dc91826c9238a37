"""How many transactions hold each member of a released item in each world: expected numbers, rounded together."""

from __future__ import annotations

import numpy as np

from anondb.answers.expected import Members
from anondb.answers.hashing import FIRSTS, h
from anondb.engine.arrays import Floats, Ints

BITS = 32  # of the fraction of an expected number: sums of them are exact


def rounded(members: Members, means: Floats, numbers: Ints, worlds: int, seed: int) -> Ints:
    """The number of holders of each member (row) in each world (column).

    With C the running sum of the expected numbers of a released item's members and one fraction u for each released item
    and world, a member has floor(C + u) less floor(C before it + u) holders. So the members of a released item have as
    many holders together as transactions that show it, or more; each number is the expected one, rounded up or down, and
    so within the item supports; and the mean over the worlds is the expected number, rounded to 1/K.

    Args:
        members: what the released items stand for.
        means: the expected number of each member; it is read in units of 2^-32.
        numbers: the number of the released item of each member, in its file.
        worlds: K.
        seed: the seed of the file.
    """
    units = np.rint(means * (1 << BITS)).astype(np.int64)
    total = np.cumsum(units)
    total -= (total - units)[members.start][members.place]
    whole, fraction = total >> BITS, total & ((1 << BITS) - 1)
    turn = (h(numbers, 0, FIRSTS + seed)[:, None] + np.arange(worlds)) % worlds
    up = fraction[:, None] * (2 * worlds) + ((2 * turn + 1) << BITS) >= 2 * worlds << BITS
    upto = whole[:, None] + up
    before = np.zeros_like(upto)
    before[1:] = upto[:-1]
    before[members.start] = 0
    return np.asarray(upto - before, dtype=np.int64)
