"""The spread of computed numbers: how far plausible tables differ in them, beside estimates and bounds.

The ends are the 5 % and 95 % quantiles of the answers of other worlds, after the distances from the estimate were multiplied
by a factor. Distances are those of log(answer + 1/2), so that a half and the double are as far away; of a negative one it
is the logarithm of the positive one, with the other sign. No end is beyond a bound, and the estimate is between them.

By how much the spread of a file's numbers has to be stretched: a part of its rows is masked again, and compared.

Rows whose released items stand for one item alone are those of the original. They are masked: the items are put into groups
of four at random, with item supports as wide as the file's. Other worlds of these groups say how far the numbers of pairs of
items may differ, and the rows say what they are in truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from anondb.answers.bags import OtherSets
from anondb.answers.expected import Members
from anondb.answers.files import DRAWN, DRAWN_COLUMNS, FIRST_MASKED, ROWS, File, begin, make_empty, of_worlds, place
from anondb.answers.hashing import MASKED, PAIRED, h
from anondb.answers.in_worlds import COPY, WORLD, InWorlds, finite, written
from anondb.engine import DuckDBEngine, Table, reads
from anondb.engine.arrays import Floats, Ints

if TYPE_CHECKING:
    from anondb.answers.tables import Drawn

LOW, HIGH = "_low", "_high"
ONLY_BOUNDS = "Only bounds hold for every original."
RANGE_NOTE = f"From {{low}} to {{high}} is a modelled range: most plausible tables have the number there. {ONLY_BOUNDS}"
SPREAD_NOTE = f"From {{low}} to {{high}} is a spread: how far plausible tables differ. {ONLY_BOUNDS}"
NO_SPREAD_NOTE = "{low} and {high} are NULL: {reason}."
_LISTED = "list(cell) FILTER (WHERE cell IS NOT NULL)"
_FILLED = "CASE WHEN absent IS NULL THEN listed ELSE list_resize(coalesce(listed, []), worlds, absent) END"
_QUANTILE = "list_aggregate(listed, 'quantile_cont', share)"
_LOG = "sign(number) * ln(1 + 2 * abs(number))"
_FAR = "center + factor * (log - center)"
_BACK = "sign(far) * (exp(least(abs(far), 700)) - 1) / 2"
_LOWER = "CASE WHEN log + center IS NOT NULL THEN least(greatest(back, CASE WHEN most >= 0 THEN 0 END, bound), estimate) END"
_UPPER = "CASE WHEN log + center IS NOT NULL THEN greatest(least(back, CASE WHEN most <= 0 THEN 0 END, bound), estimate) END"


@dataclass(frozen=True)
class Spread:
    """What the spread of the numbers of a session is computed from.

    Attributes:
        worlds: other worlds; None if there is no spread.
        factor: by which distances from the estimate are multiplied.
        reason: why there is none.
        measured: whether counts of single items were seen to lie in it.
    """

    worlds: Drawn | None
    factor: float = 1.0
    reason: str = ""
    measured: bool = False


def with_spread(query: InWorlds, spread: Spread, rows: Table, columns: Sequence[int], tables: list[Table]) -> Table:
    """The rows of a table with the ends of the spread of these columns, NULL without other worlds.

    Args:
        query: the query.
        spread: the other worlds.
        rows: its rows: estimates ``c<n>``, bounds ``c<n>_l`` and ``c<n>_u``, keys, and the number of the copy of a row.
        columns: the numbers of the columns.
        tables: the tables that the query makes; new ones are appended.
    """
    if spread.worlds is None or not columns:
        nothing = [exp.cast(exp.null(), "DOUBLE").as_(f"c{n}{end}") for n in columns for end in (LOW, HIGH)]
        return query.make("spread", exp.select("*", *nothing).from_(rows.expression()), tables)
    others = replace(query, worlds=spread.worlds)
    each = exp.select("*", others.copies(WORLD)).from_(others.drawn(tables, rows).expression()).subquery("each")
    lists = [written(_LISTED, cell=finite(exp.column(f"c{n}"))).as_(f"c{n}_v") for n in columns]
    keys = [exp.column(key) for key in query.keys]
    listed = exp.select(COPY, *keys, *lists).from_(each).group_by(COPY, *query.keys).subquery("v")
    on = [exp.column(COPY, "r").eq(exp.column(COPY, "v")), *query.same_keys("r", "v")]
    values = [_values(query, spread.worlds.count, n).as_(f"c{n}_v") for n in columns]
    joined = exp.select("r.*", *values).from_(exp.alias_(rows.expression(), "r", table=True))
    joined = joined.join(listed, on=exp.and_(*on), join_type="left")
    logs = [column for n in columns for column in _logs(n)]
    placed = exp.select("*", *logs).from_(joined.subquery("j"))
    ends = [column for n in columns for column in _ends(n, spread.factor)]
    return query.make("spread", exp.select("*", *ends).from_(placed.subquery("p")), tables)


def _values(query: InWorlds, worlds: int, n: int) -> exp.Expr:
    """The answers of all worlds, also of those without such a row, where the number has a value there."""
    values, absent = exp.column(f"c{n}_v", "v"), query.absent[n]
    if absent is None:
        return values
    absent = written(exp.cast(absent, "DOUBLE"), **{key: exp.column(key, "r") for key in query.keys})
    return written(_FILLED, listed=values, worlds=exp.convert(worlds), absent=absent)


def _logs(n: int) -> list[exp.Expr]:
    """The logarithms of the estimate and of the two quantiles, and the extreme answers."""
    estimate, values = finite(exp.column(f"c{n}")), exp.column(f"c{n}_v")
    low, high = (written(_QUANTILE, listed=values, share=exp.Literal.number(share)) for share in ("0.05", "0.95"))
    logs = [written(_LOG, number=number) for number in (estimate, low, high)]
    extremes = [exp.Anonymous(this=name, expressions=[values]) for name in ("list_min", "list_max")]
    names = ("center", f"log{LOW}", f"log{HIGH}", f"most{LOW}", f"most{HIGH}")
    return [value.as_(f"c{n}_{name}") for value, name in zip((*logs, *extremes), names, strict=True)]


def _ends(n: int, factor: float) -> list[exp.Expr]:
    """The two ends."""
    ends, center = list[exp.Expr](), exp.column(f"c{n}_center")
    for end, bound, text, outer in ((LOW, "_l", _LOWER, "least"), (HIGH, "_u", _UPPER, "greatest")):
        log, most = exp.column(f"c{n}_log{end}"), exp.column(f"c{n}_most{end}")
        far = written(_FAR, center=center, factor=exp.convert(factor), log=exp.func(outer, log, center))
        sides = {"center": center, "bound": finite(exp.column(f"c{n}{bound}")), "estimate": finite(exp.column(f"c{n}"))}
        ends.append(written(text, back=written(_BACK, far=far), log=log, most=most, **sides).as_(f"c{n}{end}"))
    return ends


def note_of(spread: Spread, of_items: bool) -> str:
    """The note that says what ``{low}`` and ``{high}`` are; ``of_items``: all numbers count those who hold one item."""
    if spread.worlds is None:
        return NO_SPREAD_NOTE.replace("{reason}", spread.reason)
    return RANGE_NOTE if spread.measured and of_items else SPREAD_NOTE


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
    number = max(range(len(files)), key=lambda n: files[n].description.transactions)
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
    members, seed = file.members, file.description.seed
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
    low, high = _supports(file.members.support[opened], np.repeat(support, GROUP), file.description.k)
    members = Members(group, np.arange(len(opened)), np.repeat(support, GROUP), low, high)
    return File(file.description, members, [""] * len(opened), [""] * len(opened))


def _supports(n: Ints, support: Ints, k: int) -> tuple[Floats, Floats]:
    """Item supports of n holders: the ends of buckets of width k, the last of which is wider (docs/item_supports.md)."""
    last = np.maximum((support - k - 1) // k, 0)
    bucket = np.minimum((n + k - 1) // k, last + 1)
    return np.where(bucket <= 1, 0.0, (bucket - 1) * k + 1), np.where(bucket <= last, bucket * k, support).astype(float)


def _compared(engine: DuckDBEngine, masked: File) -> tuple[Ints, Ints]:
    """How many hold each of some frequent pairs of masked items in truth, and (a row for each pair) in each other world."""
    pairs = engine.query("answers/frequent_pairs", {"held": HELD}, least=LEAST_SUPPORT)
    first, second = (pairs[name].astype(np.int64) for name in ("first", "second"))
    chosen = np.sort(np.argsort(h(first, second, PAIRED + masked.description.seed), kind="stable")[:MOST_PAIRS])
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
