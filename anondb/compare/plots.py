"""Plots as SVG text, drawn so that they can be read without colour: marks, dashes and names tell series apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 620, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 150, 16, 46
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2 1 2")
_MARKS = 8


def mark(number: int, x: float, y: float, size: float = 4.5) -> str:
    """The mark of a series, around a point: eight shapes, filled and open in turn."""
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
    """A number for an axis or a label: three digits, large ones with separators."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _ticks(low: float, high: float) -> list[float]:
    """Four to eight round values from low to high."""
    step: float = 10.0 ** math.floor(math.log10((high - low) / 4))
    for factor in (1, 2, 2.5, 5, 10):
        if (high - low) / (step * factor) <= 6:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _axes(title: str, across: Sequence[float], top: float, x_name: str, y_name: str) -> tuple[list[str], float, float]:
    """The frame of a plot whose y begins at 0, and its left and right values."""
    low, high = min(across), max(across)
    if low == high:
        low, high = low - 1, high + 1
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f'<text x="{LEFT}" y="{HEIGHT - 8}" class="axis">{escape(x_name)}</text>',
        f'<text x="14" y="{TOP - 3}" class="axis">{escape(y_name)}</text>',
    ]
    for value in _ticks(0, top):
        y = HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="tick" text-anchor="end">{number(value)}</text>')
    return parts, low, high


def lines(title: str, x_name: str, y_name: str, series: Mapping[str, Points], numbers: Mapping[str, int]) -> str:
    """Series of points joined by lines, each named at its end.

    Args:
        title: for readers who do not see the plot.
        x_name, y_name: of the axes.
        series: points by name, ascending in x.
        numbers: which mark and dash each name has.
    """
    across = sorted({x for points in series.values() for x, _ in points})
    top = max((y for points in series.values() for _, y in points), default=0) or 1
    parts, low, high = _axes(title, across, top, x_name, y_name)

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT - 12), HEIGHT - BOTTOM - y / top * (
            HEIGHT - TOP - BOTTOM
        )

    for x in across:
        at, _ = place(x, 0)
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" class="tick" text-anchor="middle">{number(x)}</text>'
        )
    ends = []
    for name, points in series.items():
        at_points = [place(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at_points)
        dash = DASHES[numbers[name] % len(DASHES)]
        parts.append(f'<polyline points="{path}" class="line" stroke-dasharray="{dash}"/>')
        parts += [mark(numbers[name], x, y) for x, y in at_points]
        ends.append((at_points[-1][1], at_points[-1][0], name))
    parts += _names(ends)
    return "".join([*parts, "</svg>"])


def _names(ends: list[tuple[float, float, str]]) -> list[str]:
    """The names of series beside their last points, moved apart where they would cover each other."""
    parts, free = [], float(TOP)
    for y, x, name in sorted(ends):
        at = max(y + 4, free)
        free = at + 13
        parts.append(f'<line x1="{x + 6:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT + 8}" y2="{at - 4:.1f}" class="grid"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 11}" y="{at:.1f}" class="name">{escape(name)}</text>')
    return parts


def scatter(
    title: str, x_name: str, y_name: str, points: Sequence[tuple[float, float, str, bool]], numbers: Mapping[str, int]
) -> str:
    """Points with the marks of their series; those that stand out (the frontier) are ringed.

    Args:
        title, x_name, y_name, numbers: as for ``lines``.
        points: x, y, name of the series, whether it stands out.
    """
    top = max(y for _, y, _, _ in points) or 1
    parts, low, high = _axes(title, [0.0, *(x for x, *_ in points)], top, x_name, y_name)
    ends = []
    for value in _ticks(low, high):
        at = LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT - 12)
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" class="tick" text-anchor="middle">{number(value)}</text>'
        )
    for x, y, name, stands_out in points:
        at = LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT - 12)
        height = HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)
        parts.append(mark(numbers[name], at, height))
        if stands_out:
            parts.append(f'<circle cx="{at:.1f}" cy="{height:.1f}" r="9" class="ring"/>')
        ends.append((height, at, name))
    last = {name: (height, at, name) for height, at, name in sorted(ends, key=lambda e: e[1])}
    return "".join([*parts, *_names(list(last.values())), "</svg>"])


def bars(title: str, values: Mapping[str, float], unit: str) -> str:
    """A bar for each name, with its value beside it."""
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
