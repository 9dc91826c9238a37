"""Results that notebooks show as tables of their fields; how a table looks is said above, in ``pages/tables.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar


class AsTable:
    """A dataclass that notebooks show as a table, once ``table`` says how; until then by its repr."""

    table: ClassVar[Callable[[AsTable], str] | None] = None

    def _repr_html_(self) -> str | None:
        return None if AsTable.table is None else AsTable.table(self)
