"""Draw histograms of an attribute before and after, with the released ranges below."""

from collections.abc import Sequence

from anondb.pages.plots import svg, text
from anondb.pages.text import cut, label, name_room, number

MOST_RANGES, MOST_NAMES = 24, 14
_HEIGHT, _EDGE = 150, 6
BEFORE, AFTER = 'fill="var(--soft)" fill-opacity=".65"', 'class="bar"'
Bins = Sequence[tuple[str, float, float]]


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
