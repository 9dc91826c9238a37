"""Texts and numbers for a reader; labels of the data are escaped, so that none of their characters has an effect."""

from __future__ import annotations

import re
from html import escape

LONGEST = 80  # characters of a label


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


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number with its noun: ``1 item``, ``2 items``."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"
