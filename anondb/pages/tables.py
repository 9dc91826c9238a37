"""Results that notebooks show as tables of their fields."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from anondb.pages.text import label

MOST = 20  # parts of a field that are shown


class AsTable:
    """A dataclass that notebooks show as a table: a row for each field that has a value."""

    def _repr_html_(self) -> str:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}  # type: ignore[arg-type]
        rows = ((name.replace("_", " "), _cell(value)) for name, value in values.items() if value is not None)
        return f"<table>{''.join(f'<tr><th>{name}</th><td>{cell}</td></tr>' for name, cell in rows)}</table>"


def _cell(value: Any) -> str:
    """A value for a cell; tuples and lists line by line, the first of them."""
    if isinstance(value, AsTable):
        return value._repr_html_()
    if isinstance(value, tuple | list):
        more = [f"and {len(value) - MOST:,} more"] if len(value) > MOST else []
        return "<br>".join([*map(_cell, value[:MOST]), *more])
    return label(f"{value:.4g}" if isinstance(value, float) else str(value), 300)
