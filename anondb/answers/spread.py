"""The spread of computed numbers: how far plausible tables differ in them, beside estimates and bounds.

The ends are the 5 % and 95 % quantiles of the answers of other worlds, after the distances from the estimate were multiplied
by a factor. Distances are those of log(answer + 1/2), so that a half and the double are as far away; of a negative one it
is the logarithm of the positive one, with the other sign. No end is beyond a bound, and the estimate is between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.answers.in_worlds import COPY, WORLD, Drawn, InWorlds, finite, written
from anondb.answers.roles import Role
from anondb.engine import Table

LOW, HIGH = "_low", "_high"
ONLY_BOUNDS = "Only bounds hold for every original."
RANGE_NOTE = f"From {{low}} to {{high}} is a modelled range: most plausible tables have the number there. {ONLY_BOUNDS}"
SPREAD_NOTE = f"From {{low}} to {{high}} is a spread: how far plausible tables differ. {ONLY_BOUNDS}"
NO_SPREAD_NOTE = "{low} and {high} are NULL: {reason}."
_LISTED = "list(cell) FILTER (WHERE cell IS NOT NULL)"
_FILLED = "list_resize(coalesce(listed, []), worlds, 0.0)"
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
    """The answers of all worlds; of counts and sums, 0 where a world has no such row."""
    values = exp.column(f"c{n}_v", "v")
    if query.asked.roles[n] is not Role.TOTAL or query.asked.conditioned:
        return values
    return written(_FILLED, listed=values, worlds=exp.convert(worlds))


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
