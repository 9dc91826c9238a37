"""The answers to the queries of the ledger hold the truth, and are no worse than the ledger says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from answers.known_failures import changes, known
from answers.ledger import ANSWERED, FILE, Entry, Query, entries, queries, read, worse
from answers.ledger_releases import KINDS, asked
from each import each
from portions import some

QUERIES, LEDGER = queries(), read()


def check(folder: Path, release: str, chosen: Sequence[Query]) -> None:
    """Ask queries of a release; what is known to be worse has a line with its reason in the list of the ledger."""
    listed = dict(line.split(": ", 1) for line in known("ledger", release))
    found, wrong, tried = {}, [], set()
    for query, entry, faults in entries(folder, release, chosen):
        tried.add(f"{query.shape} {query.n}")
        wrong += faults
        if fault := worse(LEDGER[release, query.shape, query.n], entry):
            found[f"{query.shape} {query.n}"] = f"{query.sql}: {fault}"
    assert not wrong, "\n".join(wrong[:10])
    changed = changes("ledger", release, found, tried & set(listed))
    assert not changed, "\n".join([*changed, *(text for name, text in found.items() if name not in listed)])


def test_some_answers_are_no_worse_than_the_ledger_says(folder: Path) -> None:
    check(folder, "apriori_supports", QUERIES[::40])


@pytest.mark.slow
def test_the_numbers_of_items_of_persons_add_up_to_the_number_of_rows(folder: Path) -> None:
    by_person = "SELECT sum(n) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
    with asked("partition", folder) as (session, _):
        assert session.sql(by_person).bounds == session.sql("SELECT count(*) AS n FROM sales").bounds


@pytest.mark.slow
@pytest.mark.parametrize("release", some(KINDS, *list(KINDS)[1::6], check=()))
def test_a_portion_of_the_answers_is_no_worse(folder: Path, release: str) -> None:
    check(folder, release, QUERIES[list(KINDS).index(release) % 24 :: 24])


@pytest.mark.nightly
@pytest.mark.parametrize("release", KINDS)
def test_no_answer_is_worse_than_the_ledger_says(folder: Path, release: str) -> None:
    check(folder, release, QUERIES)


def test_the_ledger_has_all_shapes_and_kinds() -> None:
    shapes = Counter(query.shape for query in QUERIES)
    assert len({query.sql for query in QUERIES if not query.needs}) == sum(not query.needs for query in QUERIES)
    assert len(QUERIES) >= 400 and max(shapes.values()) <= 0.05 * len(QUERIES) and len(KINDS) >= 12
    fitting = [(name, q.shape, q.n) for name, kind in KINDS.items() for q in QUERIES if q.fits(kind)]
    assert list(LEDGER) == fitting
    assert FILE.stat().st_size < 1_500_000
    for name in KINDS:
        outcomes = Counter(e.outcome for (release, _, _), e in LEDGER.items() if release == name)
        assert outcomes[ANSWERED] > 0.15 * outcomes.total(), name


# --- what is worse is found -----------------------------------------------------------------------------------------


def entry(cells: str, *, unbounded: int = 0, log_widths: float = 0) -> Entry:
    return Entry(ANSWERED, 1, unbounded, log_widths, "", cells)


@each(
    "before, now, is_worse",
    [
        (entry("milk|1/2/4"), entry("milk|1/2/4"), False),
        (entry("milk|1/2/4"), entry("milk|2/3/4"), False),
        (entry("milk|1/2/4"), entry("milk|1/2/5"), True),
        (entry("milk|1/2/4|5/5/5"), entry("milk|1/2/4|5/5/5.1"), True),
        (entry("milk|1/2/4"), entry("milk|-/2/4"), True),
        (entry("milk|-/2/4"), entry("milk|1/2/40"), False),
        (entry("milk|1/2/4"), entry("bread|0/2/9;milk|1/2/4"), False),
        (entry("milk|0.3333333/0.3333333/0.3333333"), entry("milk|0.3333333/0.3333333/0.3333334"), False),
        (entry("milk|1/2/4"), Entry("unsupported_query"), True),
        (Entry("unsupported_query"), entry("milk|1/2/400"), False),
        (entry("", log_widths=9.5), entry("", log_widths=9.4), False),
        (entry("", log_widths=9.5), entry("", log_widths=9.6), True),
        (entry("", log_widths=9.5), entry("", log_widths=2, unbounded=1), True),
        (entry("", log_widths=9.5, unbounded=2), entry("", log_widths=12), False),
    ],
)
def test_what_is_worse_is_found(before: Entry, now: Entry, is_worse: bool) -> None:
    assert bool(worse(before, now)) == is_worse
