"""Draw plots as SVG text that is readable without colour: marks, dashes and names distinguish the series."""

import math
from collections.abc import Mapping, Sequence

from anondb.pages.text import cut, label, name_room, number

Points = Sequence[tuple[float, float]]
Place = tuple[float, float]
Bins = Sequence[tuple[str, float, float]]  # name, before, after

WIDTH, HEIGHT = 420, 260  # not more, since narrow windows scale it to 358
LEFT, RIGHT, TOP, BOTTOM, INSET = 54, 128, 32, 44, 30
_ACROSS, _UP = (LEFT + INSET, WIDTH - RIGHT - INSET), (HEIGHT - BOTTOM - 8, TOP)  # from the first to the last value
TOO_FAR = 30  # values that differ by more than this factor get a logarithmic scale
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2 1 2")
LINE = 14  # the height of a line of text
_MARKS = 12
_TICKS = 10  # at most this many names of evenly spaced values
_NEAR = 6.0  # marks nearer than this hide each other
_BESIDE = 9.0  # the distance of marks that stand side by side
# of histograms of an attribute
MOST_RANGES, MOST_NAMES = 24, 14
_HEIGHT, _EDGE = 150, 6
BEFORE, AFTER = 'fill="var(--soft)" fill-opacity=".65"', 'class="bar"'


def mark(number: int, x: float, y: float) -> str:
    """The mark of a series at a point: twelve shapes, filled and open ones."""
    shape, s = number % _MARKS, 4.5
    paint = 'fill="currentColor"' if shape in (0, 2, 5, 8, 10) else 'fill="var(--paper)"'
    stroke = f'{paint} stroke="currentColor" stroke-width="1.6"'
    polygons = {
        2: ((x, y - s - 1), (x + s + 1, y + s), (x - s - 1, y + s)),
        4: ((x, y - s - 1.5), (x + s + 1.5, y), (x, y + s + 1.5), (x - s - 1.5, y)),
        5: ((x, y + s + 1), (x + s + 1, y - s), (x - s - 1, y - s)),
    }
    if shape // 2 in polygons:
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in polygons[shape // 2])
        return f'<polygon points="{corners}" {stroke}/>'
    if shape in (0, 1):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}" {stroke}/>'
    if shape in (2, 3):
        return f'<rect x="{x - s:.1f}" y="{y - s:.1f}" width="{2 * s}" height="{2 * s}" {stroke}/>'
    if shape == 6:
        lines = ((x - s, y - s, x + s, y + s), (x - s, y + s, x + s, y - s))
    else:
        lines = ((x - s, y, x + s, y), (x, y - s, x, y + s))
    return "".join(
        f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="currentColor" stroke-width="2"/>'
        for a, b, c, d in lines
    )


def svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """A drawing at its natural size; ``title`` is for screen readers, which would skip the texts of an ``img``."""
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg {size} role="group" aria-label="{label(title)}">{"".join(parts)}</svg>'


def text(x: float, y: float, words: str, kind: str = "tick", anchor: str = "start") -> str:
    """A text of a drawing, escaped."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{label(words)}</text>'


class Scale:
    """Maps values to positions between those of the smallest and the largest; logarithmic if the values differ by a large
    factor. A linear scale may begin at ``zero``."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, zero: bool) -> None:
        low, high = min(values, default=0.0), max(values, default=1.0)
        self.logarithmic = zero and low > 0 and high / low > TOO_FAR
        if self.logarithmic:
            low, high = 10.0 ** math.floor(math.log10(low)), high
        elif zero:
            low, high = 0.0, high or 1.0
        elif low == high:
            low, high = low - 1 if low else 0.0, high + 1
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


class EvenScale:
    """Maps some values to positions at equal distances, in their order: few values that differ much, such as those of k."""

    logarithmic = False

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._values = sorted(set(values))
        self.step = (end - start) / max(len(self._values) - 1, 1)
        self._first = start if len(self._values) > 1 else (start + end) / 2

    def at(self, value: float) -> float:
        """The position of one of the values."""
        return self._first + self._values.index(value) * self.step

    def ticks(self) -> list[float]:
        """The values, or some of them if they are many."""
        return self._values[:: math.ceil(len(self._values) / _TICKS) or 1]


class CountScale:
    """Maps counts from 0 to ``most`` to positions: logarithmic, with room for 0."""

    def __init__(self, most: float, start: float, end: float) -> None:
        self._most, self._start, self._end = max(most, 1.0), start, end

    def at(self, count: float) -> float:
        """The position of a count."""
        return self._start + math.log1p(max(count, 0.0)) / math.log1p(self._most) * (self._end - self._start)

    def ticks(self) -> list[float]:
        """0 and powers of ten; with 2, 5 and so on if there are few."""
        powers = math.floor(math.log10(self._most)) + 1
        factors = (1, 2, 5) if powers <= 2 else (1,)
        return [0.0, *(f * 10.0**i for i in range(powers) for f in factors if f * 10.0**i <= self._most)]


def grid(up: Scale | EvenScale | CountScale, left: float, right: float) -> list[str]:
    """Horizontal lines at the round values of a scale, each with its number on the left."""
    parts = []
    for value in up.ticks():
        at = up.at(value)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        parts.append(text(left - 6, at + 4, number(value), anchor="end"))
    return parts


def side_by_side(places: Mapping[str, Sequence[Place]], room: float = math.inf) -> dict[str, list[Place]]:
    """Move marks, whose places are given by series, sideways where those of several series would hide each other; the marks
    of one place stay in a width of ``room``."""
    moved = {name: list(points) for name, points in places.items()}
    near: list[tuple[Place, list[tuple[str, int]]]] = []
    for name, points in places.items():
        for i, (x, y) in enumerate(points):
            if (group := next((g for (a, b), g in near if abs(a - x) < 1 and abs(b - y) < _NEAR), None)) is None:
                group = []
                near.append(((x, y), group))
            group.append((name, i))
    for _, group in near:
        for position, (name, i) in enumerate(group):
            x, y = places[name][i]
            moved[name][i] = (x + (position - (len(group) - 1) / 2) * min(_BESIDE, room / len(group)), y)
    return moved


class _Frame:
    """The axes of a plot, with the scales of x and y."""

    def __init__(self, x_name: str, y_name: str, across: Scale | EvenScale, up: Scale | EvenScale) -> None:
        self.right, self.across, self.up = WIDTH - RIGHT, across, up
        note = ", logarithmic" if self.up.logarithmic else ""
        self.parts = [text(self.right, HEIGHT - 6, x_name, "axis", "end"), text(4, TOP - 16, y_name + note, "axis")]
        self.parts += grid(up, LEFT, self.right)
        ticks = across.ticks()
        apart = (across.at(ticks[-1]) - across.at(ticks[0])) / (len(ticks) - 1) if len(ticks) > 1 else WIDTH
        few = ticks[:: math.ceil(name_room(map(number, ticks), WIDTH) / apart) or 1]  # whose numbers have room
        self.parts += [text(across.at(x), HEIGHT - BOTTOM + 14, number(x), anchor="middle") for x in few]

    def names(self, ends: Sequence[tuple[float, float, str]]) -> None:
        """Add the names of series beside their last points (y, x, name), moved apart if they overlap."""
        ordered = sorted(ends)
        places: list[float] = []
        for y, _, _ in ordered:
            places.append(max(y + 4, places[-1] + LINE if places else TOP))
        lowest = HEIGHT - BOTTOM + 2.0
        for i in range(len(places) - 1, -1, -1):
            places[i] = min(places[i], lowest)
            lowest = places[i] - LINE
        for at, (y, x, name) in zip(places, ordered, strict=True):
            line = f'x1="{x + 7:.1f}" y1="{y:.1f}" x2="{self.right + 8:.1f}" y2="{at - 4:.1f}"'
            self.parts.append(f'<line {line} class="grid"/>')
            self.parts.append(text(self.right + 11, at, name, "name"))


def lines(title: str, x_name: str, y_name: str, series: Mapping[str, Points], numbers: Mapping[str, int]) -> str:
    """Plot series of points (ascending in x) joined by lines, each named at its end; equal points stand side by side, and
    the values of x at equal distances. The title is for screen readers; ``numbers`` are those of each series' mark and
    dash."""
    across = EvenScale([x for points in series.values() for x, _ in points], *_ACROSS)
    up = Scale([y for points in series.values() for _, y in points], *_UP, zero=True)
    frame = _Frame(x_name, y_name, across, up)
    exact = {name: [(across.at(x), up.at(y)) for x, y in points] for name, points in series.items()}
    places = side_by_side(exact, 0.9 * across.step)
    for name, points in places.items():
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = DASHES[numbers[name] % len(DASHES)]
        frame.parts.append(f'<polyline points="{path}" class="line" stroke-dasharray="{dash}"/>')
    frame.parts += [mark(numbers[name], x, y) for name, points in places.items() for x, y in points]
    frame.names([(points[-1][1], points[-1][0], name) for name, points in places.items()])
    return svg(title, WIDTH, HEIGHT, frame.parts)


def scatter(
    title: str, x_name: str, y_name: str, points: Sequence[tuple[float, float, str, str, bool]], numbers: Mapping[str, int]
) -> str:
    """Plot points with the marks of their series; those on the frontier get a ring, and are joined. A point is x, y, the
    name of its series, what the pointer shows, and whether it is on the frontier; for the rest see ``lines``."""
    across = Scale([0.0, *(x for x, *_ in points)], *_ACROSS, zero=False)
    up = Scale([y for _, y, *_ in points], *_UP, zero=True)
    frame = _Frame(x_name, y_name, across, up)
    ordered = sorted(points, key=lambda point: (point[1], point[0], point[2]))
    exact = {f"{i}": [(across.at(x), up.at(y))] for i, (x, y, *_) in enumerate(ordered)}
    places = [place[0] for place in side_by_side(exact, 4 * _BESIDE).values()]
    front = [place for place, (*_, best) in zip(places, ordered, strict=True) if best]
    if len(front) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in front)
        frame.parts.append(f'<polyline points="{path}" class="front"/>')
    last: dict[str, tuple[float, float, str]] = {}
    for (x, y), (_, _, name, words, best) in zip(places, ordered, strict=True):
        ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="ring"/>' if best else ""
        frame.parts.append(f"<g><title>{label(words)}</title>{ring}{mark(numbers[name], x, y)}</g>")
        last[name] = (y, x, name)
    frame.names(list(last.values()))
    return svg(title, WIDTH, HEIGHT, frame.parts)


def bars(title: str, values: Mapping[str, float], unit: str) -> str:
    """Plot a bar for each name, labelled with its value."""
    top, names = max(values.values(), default=0) or 1, name_room(values, 0.5 * WIDTH)
    parts = []
    for i, (name, value) in enumerate(values.items()):
        y, width = 24 * i + 6, value / top * (WIDTH - names - 76)
        parts.append(text(names - 6, y + 13, cut(name, names - 6), "name", "end"))
        parts.append(f'<rect x="{names:.0f}" y="{y}" width="{max(width, 1):.1f}" height="16" class="bar"/>')
        parts.append(text(names + 6 + max(width, 1), y + 13, f"{number(value)} {unit}".strip()))
    return svg(title, WIDTH, 24 * len(values) + 8, parts)


def of_ranges(title: str, bins: Bins, ranges: Sequence[tuple[float, float, int]], width: int) -> str:
    """Bars side by side for each bin (name, before, after), and below a line for each released range (from, to, persons) in
    bins; those of the most persons are drawn."""
    top, step = max((max(b, a) for _, b, a in bins), default=1) or 1, (width - 2 * _EDGE) / max(len(bins), 1)
    parts, drawn = [text(_EDGE, 12, f"up to {round(top):,} persons", "tick")], sorted(ranges[:MOST_RANGES])
    for i, (name, before, after) in enumerate(bins):
        words = f"{name}: {number(before)} persons before, {number(after)} after"
        boxes = "".join(
            f'<rect x="{_EDGE + (i + at) * step:.1f}" y="{_HEIGHT - h:.1f}" width="{step * 0.44:.1f}" height="{h:.1f}"'
            f" {kind}/>"
            for at, kind, h in ((0.04, BEFORE, before / top * 130), (0.5, AFTER, after / top * 130))
        )
        parts.append(f"<g><title>{label(words, 200)}</title>{boxes}</g>")
    for row, (low, high, persons) in enumerate(drawn):
        y = _HEIGHT + 6 + 5 * row
        ends = f'x1="{_EDGE + low * step:.1f}" x2="{max(_EDGE + high * step, _EDGE + low * step + 2):.1f}"'
        words = f"a released range of {number(persons)} persons"
        parts.append(f'<g><title>{words}</title><line {ends} y1="{y}" y2="{y}" class="bounds" stroke-width="4"/></g>')
    height = _HEIGHT + 10 + 5 * len(drawn) + 16
    for at, anchor in ((0, "start"), (len(bins) // 2, "middle"), (len(bins), "end")):
        name = bins[at][0].split(" to ")[0] if at < len(bins) else bins[-1][0].split(" to ")[-1]
        parts.append(text(_EDGE + at * step, height - 4, name, anchor=anchor))
    return svg(title, width, height, parts)


def of_categories(title: str, bins: Bins, width: int) -> str:
    """Two bars for each category (name, before, after); the rarest are left out."""
    shown, parts = bins[:MOST_NAMES], list[str]()
    names = name_room((name for name, *_ in shown), 0.3 * width)
    top, room = max((max(b, a) for _, b, a in shown), default=1) or 1, width - names - 60
    for i, (name, before, after) in enumerate(shown):
        y = 28 * i + 4
        parts.append(text(names - 6, y + 15, cut(name, names - 6), "name", "end"))
        for at, kind, value in ((0, BEFORE, before), (11, AFTER, after)):
            long = max(value / top * room, 1)
            parts.append(f'<rect x="{names:.1f}" y="{y + at}" width="{long:.1f}" height="10" {kind}/>')
            parts.append(text(names + long + 5, y + at + 9, number(value)))
    return svg(title, width, 28 * len(shown) + 6, parts)
