"""The average over the persons of several releases, from that of each.

It is the mean of the averages, weighted by the numbers of persons. Each average and each number lies between its bounds; the
bounds of the whole are its least and its greatest value for all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from anondb.query.aggregated import Aggregated, Number
from anondb.query.answer import check
from anondb.query.cached_release import Opened
from anondb.query.measures import averaged
from anondb.query.plan import Plan
from anondb.query.refusals import unsupported
from anondb.query.totals import Bounds


def average_in(release: Opened, plan: Plan) -> tuple[Aggregated, Bounds]:
    """The average of a plan over the persons of a release who have a number, and how many they are.

    Raises:
        InputError: ``unsupported_query`` or ``query_too_complex``.
    """
    if release.anatomy:
        raise unsupported("an aggregate of numbers, from a release in buckets")
    check(release, plan)
    return averaged(release, plan)


def average_over(parts: Sequence[tuple[Aggregated, Bounds]]) -> Aggregated:
    """The average over the persons of several releases; without bounds if there may be no person, and it would be NULL.

    Args:
        parts: for each release the average, if there are any persons, and their number.
    """
    parts = [(average, persons) for average, persons in parts if persons[1]]
    if not any(persons[0] for _, persons in parts):
        return None, None
    return _end(parts, 0, 1), _end(parts, 1, -1)


def _end(parts: Sequence[tuple[Aggregated, Bounds]], place: int, sign: int) -> Number:
    """The least average (sign 1) or the greatest one (sign -1): persons who may be left out count while they move it."""
    ends = [(average[place], persons) for average, persons in parts]
    known = [(sign * end, persons) for end, persons in ends if end is not None]
    if len(known) < len(ends):
        return None
    total, number = fsum(end * persons[0] for end, persons in known), sum(persons[0] for _, persons in known)
    for end, (least, most) in sorted(known, key=lambda one: one[0]):
        if end * number < total:
            total, number = total + end * (most - least), number + most - least
    return sign * total / number
