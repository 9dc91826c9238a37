"""Texts and numbers for a reader; labels of the data are escaped, so that none of their characters has an effect."""

import re
from collections.abc import Iterable
from html import escape
from unicodedata import east_asian_width

LONGEST = 80  # characters of a label
_WIDTH = 7.2  # pixels of a letter


def plain(text: str) -> str:
    """Escape the control and format characters of a text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, longest: int = LONGEST) -> str:
    """A text without control characters, cut if it is long."""
    visible = plain(text[: longest + 1])
    return visible if len(visible) <= longest else visible[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"


def label(text: str, longest: int = LONGEST) -> str:
    """A label of the data for HTML: escaped, and cut if it is long."""
    return escape(short(text, longest))


def raised(text: str) -> str:
    """A text for HTML, escaped, with its exponents raised."""
    return re.sub(r"\^(\w+)", r"<sup>\1</sup>", escape(plain(text)))


def number(value: float) -> str:
    """Format a number: three digits; separators in large numbers."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def or_dash(value: float | None) -> str:
    """Format a number that may be missing."""
    return "-" if value is None else number(value)


def percent(value: float | None) -> str:
    """Format a share of 1 as a percentage."""
    return "-" if value is None else f"{number(100 * value)} %"


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: ``1 item``, ``2 items``."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def name_room(names: Iterable[str], most: float) -> float:
    """The width in pixels that the names of rows take, of at most ``most``."""
    return min(max(map(wide, names), default=0.0) + 7, most)


def cut(words: str, room: float) -> str:
    """A text cut to what fits into a width in pixels; at least its first two characters are left."""
    if wide(words) <= room:
        return words
    kept = words
    while len(kept) > 2 and wide(kept) + _WIDTH > room:
        kept = kept[:-1]
    return kept + "\N{HORIZONTAL ELLIPSIS}"


def wide(words: str) -> float:
    """The width of a text in pixels, about; letters of East Asia and emoji are twice as wide as others."""

    def width(c: str) -> float:
        if east_asian_width(c) in "WF":
            return 2.0
        return 1.7 if c in "mwMW@%" else 1.2 if c.isupper() else 1.0

    return _WIDTH * sum(map(width, words))
