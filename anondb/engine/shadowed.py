"""Macros of the user's that hide DuckDB's own functions.

DuckDB looks for a function along the search path before it looks at its own: after ``CREATE MACRO min(x) AS 1000`` every
``min`` means the macro, and operators (``||``), lists in brackets and LIKE are functions, too. Statements of anondb's would
compute something else, so they are not run while such a macro can be reached.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from anondb.errors import InputError

Macro = tuple[str, str, str]  # database, schema, name
_PART = r'(?:"(?:[^"]|"")*"|[^.,"]+)'
_ENTRY = re.compile(rf"\s*({_PART})(?:\.({_PART}))?\s*(?:,|$)")


class NameCheck:
    """Looks for such macros before statements run.

    The catalog is looked at once in a database of anondb's own, until SQL of the user's runs. On a connection that was
    passed in, where macros can be made at any time, it is looked at for each block of ``steady``, and outside of these
    before every statement.

    Args:
        look_up: runs a named query.
        owned: whether anondb opened the connection.
        empty: whether the current database is new and in memory, so that nobody has made a macro in it.
    """

    def __init__(self, look_up: Callable[[str], Mapping[str, Any]], owned: bool, empty: bool = False) -> None:
        self._look_up, self._owned = look_up, owned
        self._hold = empty

    def check(self) -> None:
        """Refuse macros of the user's that hide functions of DuckDB's own.

        Raises:
            InputError: ``shadowed_function``.
        """
        if self._hold:
            return
        found = self._look_up("statements/own_macros")
        macros: list[Macro] = list(zip(*(column.tolist() for column in list(found.values())[:3]), strict=True))
        if macros:
            near = reachable(macros, str(found["search_path"][0]), str(found["current_database_name"][0]))
            refusal = None
            if near:
                refusal = shadowed(near, self._look_up("statements/built_in_functions")["function_name"].tolist())
            if refusal is not None:
                raise refusal
        self._hold = self._owned

    @contextlib.contextmanager
    def steady(self) -> Iterator[None]:
        """Look once for all statements of the block."""
        self.check()
        before, self._hold = self._hold, True
        try:
            yield
        finally:
            self._hold = before

    def check_work(self, made: Collection[str]) -> None:
        """Refuse temporary tables and views of the user's that begin as work tables do; ``made`` are the engine's own.

        Raises:
            InputError: ``reserved_name``.
        """
        found = self._look_up("statements/temporary_names")
        taken = [name for name in (found["name"].tolist() if found else []) if name not in made]
        if taken:
            raise InputError(
                f"There is a temporary table or view {taken[0]!r}: names that begin with '_anondb_' are those of anondb's"
                " work tables.",
                code="reserved_name",
                hint="Rename it, or drop it.",
            )

    def may_have_changed(self) -> None:
        """SQL of the user's own ran, which may have made macros."""
        self._hold = False


def reachable(macros: Iterable[Macro], search_path: str, current: str) -> list[Macro]:
    """The macros that an unqualified call can mean: TEMP ones, and those in the schemas of the search path.

    Args:
        macros: what somebody made.
        search_path: DuckDB's setting; empty where it was never set.
        current: the current database.
    """
    path: set[tuple[str, str]] = set()
    for first, second in _ENTRY.findall(search_path) or [("main", "")]:
        one, other = _name(first), _name(second)
        path |= {(one, other)} if other else {(current.lower(), one), (one, "main")}
    return [m for m in macros if m[0] == "temp" or (m[0].lower(), m[1].lower()) in path]


def shadowed(macros: Iterable[Macro], built_in: Iterable[str]) -> InputError | None:
    """What to say of macros that can be reached and hide a function of DuckDB's; None if none does."""
    names = {name.lower() for name in built_in}
    hiding = [macro for macro in macros if macro[2].lower() in names]
    if not hiding:
        return None
    database, schema, name = hiding[0]
    more = f" and {len(hiding) - 1} more" if len(hiding) > 1 else ""
    hide = "hide functions" if more else "hides a function"
    return InputError(
        f"The macro {name!r} in {database}.{schema}{more} {hide} of DuckDB's own, so that anondb's SQL would compute"
        " something else.",
        code="shadowed_function",
        hint="Drop it or give it another name, or put it into a schema that is not on the search path.",
    )


def _name(part: str) -> str:
    part = part.strip()
    return (part[1:-1].replace('""', '"') if part.startswith('"') else part).lower()
