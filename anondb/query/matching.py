"""Match the items of a release, and the labels of a query, with the tests of the query."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from sqlglot import exp

from anondb.engine import Columns, Engine, Table
from anondb.errors import EngineError
from anondb.query.classes import Passing
from anondb.query.inline_tables import label_table
from anondb.query.predicates import ItemTest, mentioned, passes, pattern_sql, patterns
from anondb.query.refusals import unsupported
from anondb.query.values import OnValue

KEPT = 8  # answers


class Matching:
    """Matches the items of a release, and the labels of a query, with tests; the last answers are kept.

    Args:
        engine: the engine of the release.
        members: the members of its released items.
        items: these members.
    """

    def __init__(self, engine: Engine, members: Table, items: AbstractSet[str]) -> None:
        self._engine, self._members, self._items = engine, members, items
        self.passing = lru_cache(maxsize=KEPT)(self._passing)

    def _passing(self, tests: tuple[ItemTest | OnValue, ...]) -> Passing:
        """The tests that each label passes; DuckDB matches patterns, on items and on the query's labels.

        Raises:
            InputError: ``unsupported_query``: DuckDB refuses a pattern.
        """
        labels = frozenset[str]().union(*map(mentioned, tests))
        matchers = list(dict.fromkeys(p for t in tests for p in patterns(t)))
        matched: dict[str, tuple[bool, ...]] = {}
        if matchers:
            conditions = [pattern_sql(p, exp.column("label")) for p in matchers]
            matches = _matched(self._engine, self._members, conditions, labels - self._items)
            flags = zip(*(matches[f"test_{n}"].tolist() for n in range(len(matchers))), strict=True)
            matched = dict(zip(matches["label"].tolist(), flags, strict=True))
        none = (False,) * len(matchers)
        special = {}
        for label in labels | matched.keys():
            known = dict(zip(matchers, matched.get(label, none), strict=True))
            special[label] = tuple(passes(t, known, label) for t in tests)
        unmatched = dict.fromkeys(matchers, False)
        return Passing(special, tuple(passes(t, unmatched) for t in tests))


def _matched(engine: Engine, members: Table, tests: Sequence[exp.Expr], others: frozenset[str]) -> Columns:
    """The items and other labels that match a pattern, with the patterns that they match; in no order."""
    asked: exp.Query = exp.select(exp.column("item").as_("label")).from_(members.expression())
    if others:
        asked = exp.union(asked, label_table(others), distinct=False, copy=False)
    tree = (
        exp.select("label", *(t.as_(f"test_{n}") for n, t in enumerate(tests)), copy=False)
        .from_(asked.subquery("asked"), copy=False)
        .where(exp.or_(*tests))
    )
    try:
        return engine.select(tree, "the items of the query")
    except EngineError as error:
        if error.code == "refused":
            raise unsupported("a pattern that DuckDB refuses", "Check its escapes.") from None
        raise
