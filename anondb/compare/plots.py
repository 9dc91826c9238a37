"""Draw plots as SVG text that is readable without colour: marks, dashes and names distinguish the series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 620, 300
LEFT, RIGHT, TOP, BOTTOM, INSET = 66, 150, 32, 46, 14
TOO_FAR = 30  # values that differ by more than this factor get a logarithmic scale
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2 1 2")
_MARKS = 8


def mark(number: int, x: float, y: float, size: float = 4.5) -> str:
    """The mark of a series at a point: eight shapes, alternately filled and open."""
    shape, s = number % _MARKS, size
    paint = 'fill="currentColor"' if shape in (0, 2, 5) else 'fill="var(--paper)"'
    stroke = f'{paint} stroke="currentColor" stroke-width="1.6"'
    if shape in (0, 1):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}" {stroke}/>'
    if shape in (2, 3):
        return f'<rect x="{x - s:.1f}" y="{y - s:.1f}" width="{2 * s}" height="{2 * s}" {stroke}/>'
    if shape in (4, 5):
        corners = ((x, y - s - 1), (x + s + 1, y + s), (x - s - 1, y + s))
        return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}" {stroke}/>'
    if shape == 6:
        lines = ((x - s, y - s, x + s, y + s), (x - s, y + s, x + s, y - s))
    else:
        lines = ((x - s, y, x + s, y), (x, y - s, x, y + s))
    return "".join(
        f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="currentColor" stroke-width="2"/>'
        for a, b, c, d in lines
    )


def number(value: float) -> str:
    """Format a number for an axis or a label: three digits; separators in large numbers."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


class Scale:
    """Maps values to positions between two points of a drawing; logarithmic if the values differ by a large factor.

    Args:
        values: the values to show.
        start, end: the positions of the smallest and the largest value.
        zero: whether a linear scale begins at 0.
    """

    def __init__(self, values: Sequence[float], start: float, end: float, *, zero: bool) -> None:
        low, high = min(values, default=0.0), max(values, default=1.0)
        self.logarithmic = zero and low > 0 and high / low > TOO_FAR
        if self.logarithmic:
            low, high = 10.0 ** math.floor(math.log10(low)), high
        elif zero:
            low, high = 0.0, high or 1.0
        elif low == high:
            low, high = low - 1, high + 1
        self._low, self._high, self._start, self._end = low, high, start, end

    def at(self, value: float) -> float:
        """The position of a value."""
        low, high = self._low, self._high
        share = math.log(value / low, high / low) if self.logarithmic else (value - low) / (high - low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        """Some round values: powers of ten, or four to eight multiples of a round step."""
        low, high = self._low, self._high
        if self.logarithmic:
            return [10.0**i for i in range(round(math.log10(low)), math.floor(math.log10(high)) + 1)]
        step = 10.0 ** math.floor(math.log10((high - low) / 4))
        step *= next(factor for factor in (1, 2, 2.5, 5, 10) if (high - low) / (step * factor) <= 6)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


def _frame(
    title: str, x_name: str, y_name: str, x: Sequence[float], y: Sequence[float]
) -> tuple[list[str], Scale, Scale]:
    """The SVG frame of a plot with its axis names and the ticks of y, and both scales."""
    across = Scale(x, LEFT + INSET, WIDTH - RIGHT - INSET, zero=False)
    up = Scale(y, HEIGHT - BOTTOM, TOP, zero=True)
    note = ", logarithmic" if up.logarithmic else ""
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" class="axis" text-anchor="end">{escape(x_name)}</text>',
        f'<text x="4" y="{TOP - 14}" class="axis">{escape(y_name + note)}</text>',
    ]
    for value in up.ticks():
        at = up.at(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" class="tick" text-anchor="end">{number(value)}</text>')
    return parts, across, up


def _below(across: Scale, values: Sequence[float]) -> list[str]:
    """The ticks of x."""
    return [
        f'<text x="{across.at(x):.1f}" y="{HEIGHT - BOTTOM + 16}" class="tick" text-anchor="middle">{number(x)}</text>'
        for x in values
    ]


def lines(title: str, x_name: str, y_name: str, series: Mapping[str, Points], numbers: Mapping[str, int]) -> str:
    """Plot series of points joined by lines, each named at its end.

    Args:
        title: the label for screen readers.
        x_name, y_name: the names of the axes.
        series: points by name, ascending in x.
        numbers: the number of each name's mark and dash.
    """
    x = sorted({x for points in series.values() for x, _ in points})
    parts, across, up = _frame(title, x_name, y_name, x, [y for points in series.values() for _, y in points])
    parts += _below(across, x)
    ends = []
    for name, points in series.items():
        places = [(across.at(x), up.at(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dash = DASHES[numbers[name] % len(DASHES)]
        parts.append(f'<polyline points="{path}" class="line" stroke-dasharray="{dash}"/>')
        parts += [mark(numbers[name], x, y) for x, y in places]
        ends.append((places[-1][1], places[-1][0], name))
    return "".join([*parts, *_names(ends), "</svg>"])


def _names(ends: list[tuple[float, float, str]]) -> list[str]:
    """The names of series beside their last points, moved apart if they overlap."""
    parts, free = [], float(TOP)
    for y, x, name in sorted(ends):
        at = max(y + 4, free)
        free = at + 13
        parts.append(f'<line x1="{x + 6:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT + 8}" y2="{at - 4:.1f}" class="grid"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 11}" y="{at:.1f}" class="name">{escape(name)}</text>')
    return parts


def scatter(
    title: str,
    x_name: str,
    y_name: str,
    points: Sequence[tuple[float, float, str, str | None]],
    numbers: Mapping[str, int],
) -> str:
    """Plot points with the marks of their series; a point with a note (on the frontier) gets a ring.

    Args:
        title, x_name, y_name, numbers: as for ``lines``.
        points: x, y, name of the series, and a note or None.
    """
    x = [0.0, *(x for x, *_ in points)]
    parts, across, up = _frame(title, x_name, y_name, x, [y for _, y, *_ in points])
    parts += _below(across, across.ticks())
    last: dict[str, tuple[float, float, str]] = {}
    for x_value, y_value, name, note in sorted(points, key=lambda point: point[:3]):
        at, height = across.at(x_value), up.at(y_value)
        parts.append(mark(numbers[name], at, height))
        if note is not None:
            parts.append(f'<circle cx="{at:.1f}" cy="{height:.1f}" r="9" class="ring"/>')
            parts.append(
                f'<text x="{at:.1f}" y="{height - 13:.1f}" class="tick" text-anchor="middle">{escape(note)}</text>'
            )
        last[name] = (height, at, name)
    return "".join([*parts, *_names(list(last.values())), "</svg>"])


def bars(title: str, values: Mapping[str, float], unit: str) -> str:
    """Plot a bar for each name, labelled with its value."""
    top = max(values.values(), default=0) or 1
    height = 24 * len(values) + 8
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">']
    for i, (name, value) in enumerate(values.items()):
        y, width = 24 * i + 6, value / top * (WIDTH - 300)
        parts.append(f'<text x="130" y="{y + 13}" class="name" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="138" y="{y}" width="{max(width, 1):.1f}" height="16" class="bar"/>')
        text = f"{number(value)} {escape(unit)}".strip()
        parts.append(f'<text x="{144 + max(width, 1):.1f}" y="{y + 13}" class="tick">{text}</text>')
    return "".join([*parts, "</svg>"])
