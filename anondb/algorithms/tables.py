"""Work tables of integers."""

from collections.abc import Iterable
from typing import Any

from anondb.engine import Runner, Table


def put_integers(engine: Runner, name: str, **columns: Iterable[Any]) -> Table:
    """Create a work table from columns of 32-bit integers."""
    return engine.put(name, {column: ("INTEGER", values) for column, values in columns.items()})
