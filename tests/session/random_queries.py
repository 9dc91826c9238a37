"""The kinds of random queries."""

from __future__ import annotations

from collections.abc import Callable

from session import (
    random_arithmetic,
    random_around,
    random_flags,
    random_groups,
    random_inline,
    random_layers,
    random_listings,
    random_merged,
    random_persons,
    random_places,
    random_spellings,
    random_tables,
    random_unions,
    random_weeks,
    random_weighted,
)
from session.random_analyst import Analyst, Asked

KINDS: dict[str, Callable[[Analyst], Asked]] = {
    name: make
    for module in (
        random_persons,
        random_listings,
        random_tables,
        random_inline,
        random_unions,
        random_weeks,
        random_flags,
        random_groups,
        random_places,
        random_layers,
        random_merged,
        random_arithmetic,
        random_spellings,
        random_around,
        random_weighted,
    )
    for name, make in vars(module).items()
    if getattr(make, "__module__", None) == module.__name__ and not name.startswith("_")
}


def kinds(analyst: Analyst) -> list[str]:
    """The kinds of queries that make sense for the tables of an analyst."""
    needed = {"attribute": analyst.records, "inline": analyst.inline, "weekly": analyst.weeks}
    return [name for name in KINDS if all(there for kind, there in needed.items() if name.startswith(kind))]
