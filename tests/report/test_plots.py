"""Treemaps and plots: areas, nothing lost when small cells are drawn together, and no mark that hides another."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from each import each

from anondb.pages.counts import Answered, against_truth, intervals, spread
from anondb.pages.html import STYLE
from anondb.pages.plots import CountScale, EvenScale, lines, mark, of_categories, scatter, side_by_side
from anondb.pages.text import cut, label, percent, wide
from anondb.pages.treemap import MOST_CELLS, Cell, folded, squarified, treemap
from anondb.release.objects import ReleasedItem
from anondb.report.parts import cells


def test_areas_are_proportional_and_do_not_overlap() -> None:
    draw = random.Random(1)
    for _ in range(60):
        weights = sorted((draw.choice([1, 1, 2, 50, draw.random()]) for _ in range(draw.randint(1, 25))), reverse=True)
        width, height = draw.choice([(700, 300), (300, 700), (100, 100)])
        places = squarified(weights, 0, 0, width, height)
        for weight, (x, y, w, h) in zip(weights, places, strict=True):
            assert w * h == pytest.approx(weight / sum(weights) * width * height)
            assert x >= -1e-6 and y >= -1e-6 and x + w <= width + 1e-6 and y + h <= height + 1e-6
        for i, (x, y, w, h) in enumerate(places):
            for a, b, c, d in places[:i]:
                assert min(x + w, a + c) - max(x, a) < 1e-6 or min(y + h, b + d) - max(y, b) < 1e-6
    assert squarified([], 0, 0, 9, 9) == []


@each("number", [0, 1, 5, 70, 5000])
def test_small_cells_are_drawn_together(number: int) -> None:
    draw = random.Random(number)
    drawn_cells = [Cell(f"c{i}", "n", draw.choice([1, 5, 400]), draw.choice([0, 1, 3, 40, 700])) for i in range(number)]
    shown = folded(drawn_cells, 400_000)
    assert len(shown) <= MOST_CELLS + 6 and sum(c.cells for c in shown) == number
    assert sum(c.weight for c in shown) == pytest.approx(sum(c.weight for c in drawn_cells))
    assert all(
        c.note == "n" or re.fullmatch("[0-9]+ % of all, in at most [0-9]+ transactions each: c[0-9][^…]*(; …)?", c.note)
        for c in shown
    )
    kinds = "[0-9,]+ (suppressed items|items as themselves|groups of (2 to 4|20 to 49|500 to 999) items)"
    assert all(re.fullmatch(kinds, c.name) for c in shown if c.cells > 1)
    drawn = treemap("map", drawn_cells, 1000, 400, lambda cell: cell.name)
    assert drawn.count("<rect") == len(shown) and drawn.startswith("<svg") and drawn.endswith("</svg>")


def test_equal_marks_stand_side_by_side() -> None:
    places = {name: [(10.0, 50.0), (90.0, 50.0 + 40 * i)] for i, name in enumerate("abcd")}
    moved = side_by_side(places)
    firsts = sorted(some[0] for some in moved.values())
    assert all(b[0] - a[0] >= 9 for a, b in pairwise(firsts)) and {y for _, y in firsts} == {50.0}
    assert sum(x for x, _ in firsts) == pytest.approx(40)
    assert [some[1] for some in moved.values()] == [some[1] for some in places.values()]


def test_many_equal_marks_stay_apart_from_those_of_other_values() -> None:
    """Nine algorithms that tie at six values of k."""
    names, values = "abcdefghi", (2, 3, 5, 10, 20, 50)
    drawn = lines("t", "k", "y", {n: [(k, 1.0) for k in values] for n in names}, dict.fromkeys(names, 0))
    places = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)]
    groups = [sorted(places[i :: len(values)]) for i in range(len(values))]
    assert all(len(set(group)) == len(names) for group in groups)
    assert all(left[-1] < right[0] for left, right in pairwise(groups))
    assert len({mark(i, 0, 0) for i in range(12)}) == 12


def test_many_equal_points_stay_at_their_place() -> None:
    """Thirty candidates that are all exact."""
    points = [(0.0, 1.0, "a", f"{i}", True) for i in range(30)] + [(0.5, 2.0, "a", "other", True)]
    rings = re.findall(r'<circle cx="([-\d.]+)"[^>]*class="ring"', scatter("t", "x", "y", points, {"a": 0}))
    *places, other = sorted(map(float, rings))
    assert len(set(places)) == 30 and places[-1] - places[0] < (other - places[15]) / 2


def test_values_at_equal_distances() -> None:
    scale = EvenScale([50, 2, 5, 2], 10, 110)
    assert [scale.at(v) for v in (2, 5, 50)] == [10, 60, 110] and scale.ticks() == [2, 5, 50]
    assert EvenScale([7], 10, 20).at(7) == 15 and EvenScale([], 10, 20).ticks() == []
    assert len(EvenScale(list(range(95)), 0, 9).ticks()) == 10


@each("most", [0.0125, 1, 0.00071, 987654])
def test_numbers_below_an_axis_have_room(most: float) -> None:
    drawn = scatter("t", "error", "%", [(x, 1, "a", "a", True) for x in (most / 2, most)], {"a": 0})
    below = re.findall(r'<text x="([\d.]+)" y="230.0" class="tick" text-anchor="middle">([^<]+)<', drawn)
    ends = [(float(x) - wide(words) / 2, float(x) + wide(words) / 2) for x, words in below]
    assert len(ends) > 1 and all(left[1] < right[0] for left, right in pairwise(ends))


def test_scale_of_counts() -> None:
    for most in (0, 1, 7, 99, 12345):
        scale = CountScale(most, 200, 10)
        ticks = scale.ticks()
        assert scale.at(0) == 200 and scale.at(max(most, 1)) == pytest.approx(10)
        assert ticks[0] == 0 and ticks == sorted(ticks) and ticks[-1] <= max(most, 1) and len(ticks) <= 8
        assert [scale.at(t) for t in ticks] == sorted((scale.at(t) for t in ticks), reverse=True)


def test_plots_of_answers() -> None:
    answers = [Answered(f"<{i}>", i, i + 0.5, i + 2, i + 1) for i in range(100)]
    assert [a.lower for a in spread(answers, 5)] == [0, 24, 49, 74, 99] and spread(answers[:3], 5) == answers[:3]
    drawn = against_truth("t", answers[:40], 500)
    assert drawn.count('class="bounds"') == drawn.count('class="truth"') == drawn.count('class="dot"') == 40
    assert "&lt;3&gt;: truth 4, estimate 3.5, bounds 3 to 5" in drawn and "<3>" not in drawn
    assert intervals("t", answers[:7], 500).count('class="bounds"') == 7
    assert not re.search(r"nan|inf", against_truth("t", [], 500) + intervals("t", [], 356))


def test_the_label_of_a_set_is_not_repeated() -> None:
    items = [ReleasedItem("(a,b)", ("a", "b"), 9), ReleasedItem("dairy", ("a", "b"), 9), ReleasedItem("a", ("a",), 9)]
    named = [(c.name, c.note) for c in cells(items)]
    assert named == [("a, b", "2 items"), ("dairy", "2 items: a, b"), ("a", "as itself")]


def test_wide_letters_are_cut_where_they_do_not_fit() -> None:
    for words in ("i" * 90, "W" * 90, "\u8a9e" * 90, "\N{GRINNING FACE}" * 90):
        kept = cut(words, 200)
        assert kept.endswith("\N{HORIZONTAL ELLIPSIS}") and 180 < wide(kept) <= 200
    assert len(cut("\u8a9e" * 90, 200)) <= 200 / 12 and cut("\u8a9e", 20) == "\u8a9e" and len(cut("W" * 9, 1)) == 3


def test_labels() -> None:
    assert label("a\nb<\u202e") == "a\\nb&lt;\\u202e" and len(label("y" * 300)) == 80
    assert percent(None) == "-" and percent(0.12345) == "12.3 %" and percent(12.5) == "1,250 %"


@each("name", ["1", "ab", "m", "a longer category", "西瓜"])
def test_names_that_fit_are_not_cut(name: str) -> None:
    assert f">{name}</text>" in of_categories("before and after", [(name, 3, 2)], 520)
    assert f">{name}</text>" in intervals("bounds", [Answered(name, 1, 2, 3)], 500)


def test_long_names_have_two_lines() -> None:
    drawn = intervals("bounds", [Answered("admitted 2024-01-01 to 2024-04-16", 1, 2, 3)], 356)
    lines = re.findall(r'class="name" text-anchor="end">([^<]*)<', drawn)
    assert len(lines) == 2 and " ".join(lines) == "admitted 2024-01-01 to 2024-04-16"


def test_letters_on_the_strongest_cell_are_readable() -> None:
    """A contrast of 4.5, as WCAG asks, in the light and in the dark scheme."""

    def light(channels: list[float]) -> float:
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    drawn = treemap("map", [Cell("a", "", 5, 700), Cell("b", "", 5, 2)], 1000, 400, lambda cell: cell.name)
    strongest = max(float(opacity) for opacity in re.findall('fill-opacity="([^"]*)"', drawn))
    schemes = [dict(re.findall("--([a-z]+): #([0-9a-f]+);", part)) for part in STYLE.split("--ink")[1:3]]
    inks = re.findall("--ink: #([0-9a-f]+);", STYLE)[:2]
    for ink, scheme in zip(inks, schemes, strict=True):
        accent, paper, letters = (
            [channel / 255 for channel in bytes.fromhex(c if len(c) == 6 else "".join(2 * digit for digit in c))]
            for c in (scheme["accent"], scheme["paper"], ink)
        )
        behind = light([strongest * a + (1 - strongest) * p for a, p in zip(accent, paper, strict=True)])
        high, low = max(behind, light(letters)) + 0.05, min(behind, light(letters)) + 0.05
        assert high / low >= 4.5
