"""Draw a treemap: areas in proportion to weights, by squarified layout (Bruls, Huizing and van Wijk, 2000)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from anondb.pages.plots import LINE, svg
from anondb.pages.text import cut, label, percent, plain, wide

Rectangle = tuple[float, float, float, float]
LEAST_AREA = 2500.0  # cells that are smaller, in square pixels, are drawn together
MOST_CELLS = 60
FIRST = 4  # how many of the cells that are drawn together are named
LEAST_LABEL = 6  # letters; a text that is cut to no more says nothing
_MORE = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Cell:
    """A cell of a treemap."""

    name: str
    note: str  # a remark below the name
    weight: float  # its weight, above 0
    size: int  # the number of original items that it stands for; 0 for suppressed items
    cells: int = 1  # the number of cells that were drawn together


def squarified(weights: Sequence[float], x: float, y: float, width: float, height: float) -> list[Rectangle]:
    """The rectangles (x, y, width, height) of weights in descending order, whose areas are proportional to them."""
    total = sum(weights)
    if not total:
        return []
    scale = width * height / total
    areas = [w * scale for w in weights]
    rectangles: list[Rectangle] = []
    while len(rectangles) < len(areas):
        row, short = [areas[len(rectangles)]], min(width, height)
        while len(rectangles) + len(row) < len(areas):
            longer = [*row, areas[len(rectangles) + len(row)]]
            if _worst(longer, short) > _worst(row, short):
                break
            row = longer
        deep = sum(row) / short if short else 0.0
        at = 0.0
        for area in row:
            long = area / deep if deep else 0.0
            rectangles.append((x, y + at, deep, long) if width >= height else (x + at, y, long, deep))
            at += long
        if width >= height:
            x, width = x + deep, max(width - deep, 0.0)
        else:
            y, height = y + deep, max(height - deep, 0.0)
    return rectangles


def _worst(areas: Sequence[float], side: float) -> float:
    """The largest ratio of the sides of a row's rectangles."""
    total = sum(areas)
    if not side or not min(areas):
        return math.inf
    return max(side * side * max(areas) / total**2, total**2 / (side * side * min(areas)))


def folded(cells: Sequence[Cell], area: float) -> list[Cell]:
    """The cells by descending weight; small ones are drawn together, by how many items they stand for."""
    ordered = sorted(cells, key=lambda c: (-c.weight, c.name))
    total = sum(c.weight for c in ordered) or 1.0
    shown = [c for c in ordered[:MOST_CELLS] if c.weight / total * area >= LEAST_AREA]
    rest: dict[str, list[Cell]] = {}
    for cell in ordered[len(shown) :]:
        rest.setdefault(_kind(cell.size), []).append(cell)
    for kind, small in rest.items():
        if len(small) == 1:
            shown.append(small[0])
            continue
        most, together = max(c.size for c in small), sum(c.weight for c in small)
        listed = "; ".join(c.name[:40] for c in small[:FIRST])
        note = f"{percent(round(together / total, 2))} of all, in at most {small[0].weight:,.0f} transactions each: {listed}"
        note += "" if len(small) <= FIRST else f"; {_MORE}"
        shown.append(Cell(f"{len(small):,} {kind}", note, together, most, len(small)))
    return sorted(shown, key=lambda c: (-c.weight, c.name))


def _kind(size: int) -> str:
    """How many original items small cells stand for."""
    if size < 2:
        return "items as themselves" if size else "suppressed items"
    low, high = 2, 4
    while size > high:  # 2 to 4, 5 to 9, 10 to 19, 20 to 49, and so on
        low, high = high + 1, (high + 1) * (5 if str(high + 1)[0] == "2" else 4) // 2 - 1
    return f"groups of {low:,} to {high:,} items"


def treemap(title: str, cells: Sequence[Cell], width: int, height: int, words: Callable[[Cell], str]) -> str:
    """Draw a treemap in pixels; the colour of a cell is the stronger the more items it stands for, and small ones are drawn
    together. The title is for screen readers; ``words`` appear when the pointer rests on a cell."""
    shown = folded([replace(c, weight=max(c.weight, 1e-9)) for c in cells], width * height)
    largest = max((c.size for c in shown), default=1)
    places = squarified([c.weight for c in shown], 0, 0, width, height)
    parts = []
    for cell, (x, y, w, h) in zip(shown, places, strict=True):
        kind, shade = "cell", ""
        if cell.size < 2:
            kind = "cell same" if cell.size else "cell gone"
        else:
            shade = f' fill-opacity="{0.18 + 0.32 * math.log(cell.size) / math.log(max(largest, 3)):.2f}"'
        box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" class="{kind}"{shade}/>'
        parts.append(f"<g><title>{label(words(cell), 300)}</title>{box}{_label(cell, x, y, w, h)}</g>")
    return svg(title, width, height, parts)


def _label(cell: Cell, x: float, y: float, width: float, height: float) -> str:
    """The name and the remark of a cell, as far as they fit."""
    room, lines = width - 10, int((height - 4) // LINE)
    if room < 26 or lines < 1:
        return ""
    names = _wrapped(plain(cell.name), room * 0.92, max(1, min(lines - 1, 3)))  # bold letters are wider
    notes = _wrapped(plain(cell.note), room, min(lines - len(names), 6)) if names else []
    parts, at = [], LINE + 1.0
    for kind, words in (("head", names), ("name", notes)):
        for line in words:
            parts.append(f'<text x="6" y="{at:.1f}" class="{kind}">{label(line)}</text>')
            at += LINE
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width - 3:.1f}" height="{height:.1f}"'
    return f"<svg {place}>{''.join(parts)}</svg>"  # which cuts letters that are wider than expected


def _wrapped(words: str, room: float, lines: int) -> list[str]:
    """A text in at most this many lines of whole words; nothing if only a few letters of it fit."""
    wrapped: list[str] = []
    for word in words.split():
        if wrapped and wide(f"{wrapped[-1]} {word}") <= room:
            wrapped[-1] += f" {word}"
        else:
            wrapped.append(word)
    kept = wrapped[:lines]
    if len(wrapped) > lines and kept:
        last = kept[-1].split(" ")
        while len(last) > 1 and wide(f"{' '.join(last)} {_MORE}") > room:
            last.pop()
        kept[-1] = f"{' '.join(last)} {_MORE}"
    shown = [cut(line, room) for line in kept]
    broken = any(shortened != line and len(shortened) <= LEAST_LABEL for shortened, line in zip(shown, kept, strict=True))
    return [] if broken or (shown != wrapped and sum(map(len, shown)) <= LEAST_LABEL) else shown
