"""By how much the spread of a file's numbers has to be stretched: a part of its rows is masked again, and compared.

Rows whose released items stand for one item alone are those of the original. They are masked: the items are put into groups
of four at random, with item supports as wide as the file's. Other worlds of these groups say how far the numbers of pairs of
items may differ, and the rows say what they are in truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from anondb.answers.expected import Members
from anondb.answers.files import DRAWN, DRAWN_COLUMNS, FIRST_MASKED, ROWS, File, begin, make_empty, of_worlds, place
from anondb.answers.hashing import MASKED, PAIRED, h
from anondb.answers.holders import OtherSets
from anondb.engine import DuckDBEngine, reads
from anondb.engine.arrays import Floats, Ints

GROUP = 4
MOST_ROWS, MOST_PAIRS, LEAST_SUPPORT, WORLDS = 50_000, 500, 5, 40
LEAST, LARGEST, COVERED = 2.0, 10.0, 0.9
OPENED, HELD, PAIRS = (of_worlds(place(name), FIRST_MASKED) for name in ("opened", "opened rows", "frequent pairs"))


class MaskedSets(OtherSets):
    """Draws the worlds of rows that were masked again."""

    rows = of_worlds(ROWS, FIRST_MASKED)


def factor_of(engine: DuckDBEngine, files: Sequence[File]) -> float:
    """The factor by which distances from the mean are multiplied so that 90 % of pairs lie inside, between 2 and 10.

    Args:
        engine: the database with the files' rows.
        files: the files, of sets with item supports. The largest one counts.
    """
    number = max(range(len(files)), key=lambda n: files[n].facts.transactions)
    before = sum(int(file.members.label.max(initial=0)) for file in files[:number])
    file = files[number]
    opened = _opened(file)
    if len(opened) < 2 * GROUP:
        return LEAST
    begin(engine, FIRST_MASKED)
    try:
        masked = _masked(engine, file, opened, before)
        return _needed(*_compared(engine, masked))
    finally:
        begin(engine, FIRST_MASKED)


def _opened(file: File) -> Ints:
    """Members whose released items stand for nothing else: whole groups in a random order, of ``MOST_ROWS`` rows at most."""
    members, seed = file.members, file.facts.seed
    alone = np.flatnonzero(members.size == 1)
    alone = alone[np.lexsort((alone, h(alone, 0, MASKED + seed)))]
    few = alone[np.cumsum(members.support[alone]) <= MOST_ROWS]
    return np.asarray(few[: len(few) // GROUP * GROUP])


def _masked(engine: DuckDBEngine, file: File, opened: Ints, before: int) -> File:
    """The file of the rows of these members alone, masked again; ``before`` it, other files have as many released items."""
    group = np.repeat(np.arange(1, len(opened) // GROUP + 1), GROUP)
    columns = {"label": file.members.label[opened] + before, "masked": group, "member": np.arange(len(opened))}
    engine.put(OPENED, {name: ("INTEGER", values) for name, values in columns.items()})
    engine.create(HELD, reads.joined(ROWS, OPENED, "label", "other.masked AS label, one.tid, other.member"))
    engine.create(MaskedSets.rows, exp.select("label", "tid").distinct().from_(HELD.expression()))
    counted = exp.select("label", exp.Count(this=exp.Star()).as_("n")).from_(MaskedSets.rows.expression())
    support = engine.select(counted.group_by("label").order_by("label"), "masked rows")["n"].astype(np.int64)
    low, high = _supports(file.members.support[opened], np.repeat(support, GROUP), file.facts.k)
    members = Members(group, np.arange(len(opened)), np.repeat(support, GROUP), low, high)
    return File(file.facts, members, [""] * len(opened), [""] * len(opened))


def _supports(n: Ints, support: Ints, k: int) -> tuple[Floats, Floats]:
    """Item supports of n holders: the ends of buckets of width k, the last of which is wider (docs/item_supports.md)."""
    last = np.maximum((support - k - 1) // k, 0)
    bucket = np.minimum((n + k - 1) // k, last + 1)
    return np.where(bucket <= 1, 0.0, (bucket - 1) * k + 1), np.where(bucket <= last, bucket * k, support).astype(float)


def _compared(engine: DuckDBEngine, masked: File) -> tuple[Ints, Ints]:
    """How many hold each of some frequent pairs of masked items in truth, and (a row for each pair) in each other world."""
    pairs = engine.query("answers/frequent_pairs", {"held": HELD}, least=LEAST_SUPPORT)
    first, second = (pairs[name].astype(np.int64) for name in ("first", "second"))
    chosen = np.sort(np.argsort(h(first, second, PAIRED + masked.facts.seed), kind="stable")[:MOST_PAIRS])
    truth, drawn = pairs["n"].astype(np.int64)[chosen], of_worlds(DRAWN, FIRST_MASKED)
    columns = {"pair": np.arange(len(chosen)), "first": first[chosen], "second": second[chosen]}
    engine.put(PAIRS, {name: ("INTEGER", values) for name, values in columns.items()})
    make_empty(engine, drawn, DRAWN_COLUMNS)
    MaskedSets(engine, [masked], range(FIRST_MASKED, FIRST_MASKED + WORLDS)).draw(np.ones(len(masked.names), dtype=np.bool_))
    rows = engine.query("answers/pairs_in_worlds", {"pairs": PAIRS, "drawn": drawn})
    counts = np.zeros((len(chosen), WORLDS), dtype=np.int64)
    counts[rows["pair"], rows["world"] - FIRST_MASKED] = rows["n"]
    return truth, counts


def _needed(truth: Ints, counts: Ints) -> float:
    """The factor with which enough of the truths lie between the ends."""
    if not len(truth):
        return LEAST
    mean, low, high = (np.log(values + 0.5) for values in (counts.mean(1), *np.quantile(counts, (0.05, 0.95), axis=1)))
    off = np.log(truth + 0.5) - mean
    far = np.where(off < 0, mean - low, high - mean)
    factors = np.abs(off) / np.maximum(far, 1e-9)
    return float(np.clip(np.quantile(factors, COVERED, method="inverted_cdf"), LEAST, LARGEST))
