"""Texts and numbers for a reader, and tables for notebooks; labels of the data are escaped, so that none of their characters
has an effect."""

import re
from collections.abc import Iterable
from dataclasses import fields
from html import escape
from typing import Any
from unicodedata import east_asian_width

from anondb.models import AsTable

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


MOST = 20  # parts of a field that are shown


def table(result: Any) -> str:
    """A result as an HTML table."""
    values = {f.name: getattr(result, f.name) for f in fields(result) if f.repr}
    rows = ((name.replace("_", " "), _cell(value)) for name, value in values.items() if value is not None)
    return f"<table>{''.join(f'<tr><th>{name}</th><td>{cell}</td></tr>' for name, cell in rows)}</table>"


def _cell(value: Any) -> str:
    """A value for a cell; tuples and lists line by line, the first of them."""
    if isinstance(value, AsTable):
        return table(value)
    if isinstance(value, tuple | list):
        more = [f"and {len(value) - MOST:,} more"] if len(value) > MOST else []
        return "<br>".join([*map(_cell, value[:MOST]), *more])
    return label(f"{value:.4g}" if isinstance(value, float) else str(value), 300)


AsTable.table = table
