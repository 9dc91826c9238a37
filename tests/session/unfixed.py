"""Wrong answers that random queries may still find: delete an entry with the repair of its bug, the file with the last."""

from __future__ import annotations

import re

UNFIXED = {
    "count_if of no rows is NULL, but its bounds are 0": (r"count_if\(", "true is|a row is not certain"),
    "aggregates over a listing of which a condition leaves nothing are NULL": (
        r"FROM \(.*(WHERE|HAVING)",
        "NULL, true is",
    ),
    "count of a number that may be NULL": (r"count\(n\)", "true is"),
    "the time of arithmetic grows exponentially with its depth": (r"[-+*/]", "BudgetExceeded"),
    "ANTI JOIN and SEMI JOIN of results": (r"(ANTI|SEMI) JOIN", "BinderException"),
}
"""By its bug: a pattern of the query, and one of the fault."""


def unfixed(query: str, fault: str) -> bool:
    """Whether a fault of an answer comes from a bug that is known."""
    return any(re.search(asked, query) and re.search(text, fault) for asked, text in UNFIXED.values())
