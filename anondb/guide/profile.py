"""Profile transactions before a release: sizes, what attackers would find, the taxonomy, and the cost of each algorithm."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any

from anondb.data.records import parse_quasi_identifiers
from anondb.data.sources import Source, open_source, reading_as
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine
from anondb.guide.counts import counts_of
from anondb.guide.estimates import Estimate, estimates, features
from anondb.guide.knowledge import Threat, what_attackers_find
from anondb.guide.look import Counts
from anondb.guide.people import People, people
from anondb.models.transactional import KmAnonymity
from anondb.reading.account import Account, accounts_of, read_json
from anondb.reading.options import PEOPLE, as_read
from anondb.taxonomies.check import Checked, checked
from anondb.taxonomies.hierarchies import Values, read_values


@dataclass(frozen=True)
class Lengths:
    """The number of items of a person, 0 for a person without items.

    Attributes:
        least, lower_quartile, median, upper_quartile, most: a quartile is the smallest length that at least a quarter,
            half, or three quarters of the persons do not exceed.
        mean: the mean.
    """

    least: int
    lower_quartile: int
    median: int
    mean: float
    upper_quartile: int
    most: int


@dataclass(frozen=True, repr=False)
class Profile:
    """What is known of transactions before a release. It has exact counts of the original data: it is for their owner.

    Attributes:
        source: the name of the source.
        persons, empty, items, occurrences: their numbers; ``empty`` persons have no item.
        lengths: the number of items of a person; None without persons.
        k: the k that the following figures assume.
        rare_items, rare_occurrences: the items that fewer than k persons have, and their occurrences.
        single_items: the items that one person has.
        known: what attackers find who know 1, 2 and 3 items of a person.
        taxonomy: the check of the taxonomy; None if none was named.
        estimates: the cost of each algorithm that keeps k^m-anonymity or more, with m = 2.
        warnings: remarks on the source.
        read: what was read of each file.
        people: what attackers find who know attributes; None without records.
        counts: how many items persons have, the items that most persons have, and the persons by the attributes that are
            named; ``to_json`` leaves the last two out.
    """

    source: str
    persons: int
    empty: int
    items: int
    occurrences: int
    lengths: Lengths | None
    k: int
    rare_items: int
    rare_occurrences: int
    single_items: int
    known: tuple[Threat, ...]
    taxonomy: Checked | None
    estimates: tuple[Estimate, ...]
    warnings: tuple[str, ...] = ()
    read: tuple[Account, ...] = ()
    people: People | None = None
    counts: Counts = field(default=Counts((), ()))

    def to_json(self) -> dict[str, Any]:
        """The profile as JSON values; of the taxonomy, numbers only."""
        shown = {
            **asdict(self),
            **read_json(self.read),
            "taxonomy": None if self.taxonomy is None else taxonomy_figures(self.taxonomy),
            "counts": {"lengths": self.counts.lengths},
        }
        return {**shown, "known": [asdict(x) for x in self.known], "estimates": [asdict(x) for x in self.estimates]}

    def __repr__(self) -> str:
        from anondb.guide.words import profile_sections, sections_text

        return sections_text(profile_sections(self))

    def _repr_html_(self) -> str:
        """The profile as tables, for notebooks."""
        from anondb.guide.page import profile_body

        return profile_body(self)


def profile(
    engine: Engine,
    transactions: Any,
    *,
    taxonomy: Any = None,
    k: int = 5,
    attackers: bool = True,
    records: Any = None,
    **attributes: Any,
) -> Profile:
    """Profile transactions.

    Args:
        engine: the engine, outside a transaction; nothing is written.
        taxonomy: the taxonomy of the items, which need not fit.
        k: the k of the promise that violations and costs are counted for.
        attackers: whether to count what attackers find, and what algorithms take; without, sizes alone are counted.
        records: the records of the persons; those of the transactions if only ``quasi_identifiers`` are named, or if the
            layout is people.
        attributes: ``quasi_identifiers``, ``hierarchies`` and ``sensitive``, see ``anondb.guide.people.people``.
    """
    k = KmAnonymity(k).k
    of_rows = as_read(transactions).reading.layout == PEOPLE or any(value is not None for value in attributes.values())
    if records is None and of_rows:
        records = transactions
    with (
        reading_as(engine, transactions),
        engine.accounting() as accounts,
        engine.transaction(),
        open_source(engine, transactions, "transactions") as source,
        contextlib.nullcontext() if records is None else open_source(engine, records, "records") as persons,
    ):
        engine.progress("loading transactions")
        dataset = load_transactions(engine, source, more_ids=persons)
        fit = None if taxonomy is None else checked(engine, taxonomy, dataset.labels, dataset.item_kind)
        threats, of_people, costs = tuple[Threat, ...](), None, tuple[Estimate, ...]()
        if attackers:
            threats = what_attackers_find(engine, dataset, k)
            of_people = None if persons is None else people(engine, persons, dataset, **attributes)
            costs = estimates(features(engine, dataset, threats, of_people), k, fit)
        counts = counts_of(dataset, _values(engine, persons, dataset.id_column, **attributes))
    return Profile(
        **_sizes(dataset, k),
        counts=counts,
        k=k,
        known=threats,
        taxonomy=fit,
        estimates=costs,
        read=accounts_of(accounts, dataset.account),
        people=of_people,
    )


def _sizes(dataset: Dataset, k: int) -> dict[str, Any]:
    """What is known of transactions by counting once."""
    rare = dataset.supports < k
    return {
        "source": dataset.table,
        "persons": dataset.n_transactions,
        "empty": dataset.n_transactions - dataset.non_empty,
        "items": dataset.n_items,
        "occurrences": dataset.n_occurrences,
        "lengths": _lengths(dataset),
        "rare_items": int(rare.sum()),
        "rare_occurrences": int(dataset.supports[rare].sum()),
        "single_items": int((dataset.supports == 1).sum()),
        "warnings": dataset.warnings,
    }


def _values(
    engine: Engine, persons: Source | None, id_column: str, quasi_identifiers: Any = None, **_: Any
) -> Iterator[Values]:
    """The values of the attributes that are named."""
    if persons is not None and quasi_identifiers is not None:
        for name, _kind in parse_quasi_identifiers(quasi_identifiers):
            yield read_values(engine, persons, id_column, name)


def taxonomy_figures(taxonomy: Checked) -> dict[str, Any]:
    """The numbers of a check of a taxonomy: items that it lacks, items that are inner nodes, leaves that do not occur; 0, 0
    and None if it is no tree, or if items and leaves have different ``types`` and cannot be compared."""
    return {
        "fits": taxonomy.fits,
        **{n: None if taxonomy.shape is None else getattr(taxonomy.shape, n) for n in ("nodes", "leaves")},
        "missing": len(taxonomy.missing),
        "internal": len(taxonomy.internal),
        "unused": taxonomy.unused,
        "types": taxonomy.types,
        "faults": {kind.replace(" ", "_"): len(labels) for kind, labels in taxonomy.faults.items()},
    }


def _lengths(dataset: Dataset) -> Lengths | None:
    n = dataset.n_transactions
    if not n:
        return None
    counts: Mapping[int, int] = {0: n - dataset.non_empty, **dataset.lengths}
    ordered = sorted(length for length, persons in counts.items() if persons)
    up_to = list(accumulate(counts[length] for length in ordered))

    def quartile(quarters: int) -> int:
        return next(length for length, persons in zip(ordered, up_to, strict=True) if 4 * persons >= quarters * n)

    lower, median, upper = map(quartile, (1, 2, 3))
    return Lengths(ordered[0], lower, median, dataset.n_occurrences / n, upper, ordered[-1])
