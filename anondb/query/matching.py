"""Match the items of a release, and the labels of a query, with the tests of the query."""

from __future__ import annotations

from functools import lru_cache

from anondb.query.classes import Passing
from anondb.query.predicates import ItemTest, mentioned, passes
from anondb.query.values import OnValue

KEPT = 8  # answers


class Matching:
    """Matches labels with tests; the last answers are kept."""

    def __init__(self) -> None:
        self.passing = lru_cache(maxsize=KEPT)(passing_of)


def passing_of(tests: tuple[ItemTest | OnValue, ...]) -> Passing:
    """The tests that each label passes that a test names, and those that all others pass."""
    labels = frozenset[str]().union(*map(mentioned, tests))
    special = {label: tuple(passes(t, {}, label) for t in tests) for label in labels}
    return Passing(special, tuple(passes(t, {}) for t in tests))
