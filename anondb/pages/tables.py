"""How notebooks show results: a table with a row for each field that has a value."""

from dataclasses import fields
from typing import Any

from anondb.models import AsTable
from anondb.pages.text import label

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
