"""Plots of counts: the truth beside estimates and bounds, the bounds of single items, and shares of persons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from anondb.pages.plots import CountScale, grid, svg, text
from anondb.pages.text import cut, label, name_room, number, percent, short, wide

T = TypeVar("T")
_LEFT, _TOP, _BOTTOM, _HEIGHT = 46, 14, 26, 280


@dataclass(frozen=True)
class Answered:
    """The answer to a COUNT query: what was asked, its bounds and estimate, and the truth, which only owners know."""

    words: str
    lower: float
    estimate: float
    upper: float
    truth: float | None = None


def spread(answers: Sequence[T], most: int) -> list[T]:
    """At most this many of the answers, evenly spaced by rank; the first and the last are among them."""
    if len(answers) <= most:
        return list(answers)
    return [answers[i * (len(answers) - 1) // (most - 1)] for i in range(most)]


def against_truth(title: str, answers: Sequence[Answered], width: int) -> str:
    """Plot queries in the order of their true counts: a bar from the lower to the upper bound, a dot for the estimate, and a
    line for the truth."""
    up = CountScale(max((a.upper for a in answers), default=1), _HEIGHT - _BOTTOM, _TOP)
    parts = grid(up, _LEFT, width)
    step = (width - _LEFT) / max(len(answers), 1)
    thick = min(step * 0.6, 12)
    for i, a in enumerate(answers):
        x = _LEFT + (i + 0.5) * step
        low, high, middle = up.at(a.lower), up.at(a.upper), up.at(a.estimate)
        truth = up.at(a.truth or 0)
        words = f"{short(a.words)}: truth {number(a.truth or 0)}, estimate {number(a.estimate)}, "
        words += f"bounds {number(a.lower)} to {number(a.upper)}"
        parts.append(
            f"<g><title>{label(words, 300)}</title>"
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low + 1:.1f}" y2="{high - 1:.1f}" class="bounds"'
            f' stroke-width="{thick:.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="{min(3.2, 0.4 * step):.1f}" class="dot"/>'
            f'<line x1="{x - step / 2:.1f}" x2="{x + step / 2:.1f}" y1="{truth:.1f}" y2="{truth:.1f}" class="truth"'
            ' stroke-width="2.2"/></g>'
        )
    parts.append(text(width, _HEIGHT - 6, "queries, by their true counts", "axis", "end"))
    return svg(title, width, _HEIGHT, parts)


def intervals(title: str, answers: Sequence[Answered], width: int) -> str:
    """Plot a row for each question: a bar from the lower to the upper bound, a dot for the estimate, and a line for the
    truth where it is known."""
    names = name_room((a.words for a in answers), 0.4 * width)
    across = CountScale(max((a.upper for a in answers), default=1), names + 6, width - 22)
    height = 22 * len(answers) + 26
    parts = []
    for value in across.ticks():
        at = across.at(value)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="4" y2="{height - 20}" class="grid"/>')
        parts.append(text(at, height - 6, number(value), anchor="middle"))
    for i, a in enumerate(answers):
        y = 22 * i + 14
        words = f"{short(a.words)}: bounds {number(a.lower)} to {number(a.upper)}, estimate {a.estimate:.1f}"
        low, high, truth = across.at(a.lower) - 1, across.at(a.upper) + 1, ""
        if a.truth is not None:
            words, x = f"{words}, truth {number(a.truth)}", across.at(a.truth)
            truth = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{y + 8}" class="truth" stroke-width="2.2"/>'
        parts.append(
            f"<g><title>{label(words, 300)}</title>{_named(a.words, names, y)}"
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" class="bounds" stroke-width="10"/>'
            f'<circle cx="{across.at(a.estimate):.1f}" cy="{y}" r="3.6" class="dot"/>{truth}</g>'
        )
    return svg(title, width, height, parts)


def _named(words: str, room: float, y: float) -> str:
    """The name of a row, in two lines if it is long, which end at ``room``."""
    parts, first = words.split(" "), 0
    while wide(words) > room and first < len(parts) - 1 and wide(" ".join(parts[: first + 1])) <= room:
        first += 1
    lines = [" ".join(parts[:first]), " ".join(parts[first:])] if first else [words]
    at = y + 4 - 6 * (len(lines) - 1)
    return "".join(text(room, at + 12 * i, cut(line, room), "name", "end") for i, line in enumerate(lines))


@dataclass(frozen=True)
class Shares:
    """Two shares of persons, the second contained in the first: fewer than k candidates, and a single one."""

    words: str
    few: float
    alone: float


def shares(title: str, rows: Sequence[tuple[str, Sequence[Shares]]], width: int) -> str:
    """Plot, under each heading, a bar for each pair of shares: its whole length is the first, its dark part the second."""
    top = max((s.few for _, pairs in rows for s in pairs), default=0) or 1.0
    names, y, parts = 78.0, 4.0, []
    room = width - names - 142
    for heading, pairs in rows:
        parts.append(text(0, y + 12, heading, "axis"))
        y += 20
        for s in pairs:
            few, alone = s.few / top * room, s.alone / top * room
            parts.append(text(names - 6, y + 12, s.words, "name", "end"))
            parts.append(f'<rect x="{names}" y="{y}" width="{max(few, 1):.1f}" height="16" class="bar" opacity=".4"/>')
            parts.append(f'<rect x="{names}" y="{y}" width="{alone:.1f}" height="16" class="bar"/>')
            words = f"{percent(s.few)}, {percent(s.alone)} alone" if s.few else "none"
            parts.append(text(names + max(few, 1) + 6, y + 12, words))
            y += 20
        y += 8
    return svg(title, width, y, parts)
