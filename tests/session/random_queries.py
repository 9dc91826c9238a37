"""The kinds of random queries."""

from __future__ import annotations

from collections.abc import Callable

from session import random_inline, random_listings, random_persons, random_tables, random_unions
from session.random_analyst import Analyst, Asked

KINDS: dict[str, Callable[[Analyst], Asked]] = {
    name: make
    for module in (random_persons, random_listings, random_tables, random_inline, random_unions)
    for name, make in vars(module).items()
    if getattr(make, "__module__", None) == module.__name__ and not name.startswith("_")
}
ON_RECORDS = {name for name in KINDS if name.startswith("attribute")}
INLINE = {name for name in KINDS if name.startswith("inline")}


def kinds(analyst: Analyst) -> list[str]:
    """The kinds of queries that make sense for the tables of an analyst."""
    return [
        name for name in KINDS if (analyst.records or name not in ON_RECORDS) and (analyst.inline or name not in INLINE)
    ]
