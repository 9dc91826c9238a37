"""The answer to a query for one count: each of its groups with lower bound, estimate and upper bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from anondb.query import parse
from anondb.session.output import CERTAIN
from anondb.session.result import Result, json_rows

ENDS = ("_lower", "_upper")
BOUNDS = ("lower_bound", "estimate", "upper_bound")
_CHOOSES_ROWS = ("having", "qualify", "distinct", "limit", "offset")


@dataclass(frozen=True)
class Count:
    """All groups of one count.

    Attributes:
        name: the alias of the count in the query, ``count`` without an alias.
        columns: the names of the columns of the groups; empty without groups.
        rows: the groups, each with its values, then lower bound, estimate and upper bound.
        notes: remarks on the interpretation of the query.
    """

    name: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """The count as JSON values."""
        return {
            "count": self.name,
            "columns": [*self.columns, *BOUNDS],
            "rows": json_rows(self.rows),
            "notes": self.notes,
        }


def one_count(sql: str, result: Result) -> Count | None:
    """The result of a query as the groups of its only count; None if it asks for something else.

    A condition on the count, LIMIT and DISTINCT choose from the groups, so they ask for something else. Without them, the
    column ``certain`` says of a group no more than its lower bound does.
    """
    tree = parse(sql)
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    if not isinstance(tree, exp.Select) or any(tree.args.get(clause) for clause in _CHOOSES_ROWS):
        return None
    computed = [n for n, selected in enumerate(tree.expressions) if selected.find(exp.AggFunc, exp.Window)]
    if len(computed) != 1 or not _is_count(tree.expressions[computed[0]].unalias()):
        return None
    (at,), (*names,) = computed, result.columns
    marked = names[len(tree.expressions) + 2 :] == [CERTAIN]
    if marked:
        names.pop()
    if len(names) != len(tree.expressions) + 2 or names[at + 1 : at + 3] != [f"{names[at]}{end}" for end in ENDS]:
        return None
    groups = [n for n in range(len(names)) if not at <= n < at + 3]
    rows = result.fetchall()
    if marked and any(row[-1] != ((row[at + 1] or 0) >= 1) for row in rows):  # a group without a counted row
        return None
    bounds = [(*(row[n] for n in groups), row[at + 1], row[at], row[at + 2]) for row in rows]
    return Count(tree.expressions[at].alias or "count", [names[n] for n in groups], bounds, result.notes)


def _is_count(selected: exp.Expr) -> bool:
    counter = selected.this if isinstance(selected, exp.Filter) else selected
    return isinstance(counter, exp.Count | exp.CountIf)
