"""Refuses user macros that hide built-in functions of DuckDB.

DuckDB searches the search path for a function before its built-in functions: after ``CREATE MACRO min(x) AS 1000`` every
``min`` means the macro, and operators (``||``), lists in brackets and LIKE are functions, too. anondb's statements would
compute other results, so they are not run while such a macro is reachable.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from anondb.errors import InputError

Macro = tuple[str, str, str]  # database, schema, name
_PART = r'(?:"(?:[^"]|"")*"|[^.,"]+)'
_ENTRY = re.compile(rf"\s*({_PART})(?:\.({_PART}))?\s*(?:,|$)")


class NameCheck:
    """Checks for such macros before statements run.

    If anondb opened the database, the catalog is checked once, and again after SQL of the user that may make a macro; one
    that it made is not checked before. On a connection that was passed in, where macros can be created at any time, it is
    checked once for each block of ``steady``, and before every statement outside such blocks.

    Args:
        look_up: runs a named query.
        owned: whether anondb opened the connection.
        empty: whether the current database is new, so that nobody has made a macro in it.
    """

    def __init__(self, look_up: Callable[[str], Mapping[str, Any]], owned: bool, empty: bool = False) -> None:
        self._look_up, self._owned = look_up, owned
        self._hold = empty

    def check(self) -> None:
        """Refuse user macros that hide built-in functions of DuckDB. Raises InputError: ``shadowed_function``."""
        if self._hold:
            return
        rows = self._look_up("engine/own_macros")
        macros: list[Macro] = list(zip(*(column.tolist() for column in list(rows.values())[:3]), strict=True))
        if macros:
            near = reachable(macros, str(rows["search_path"][0]), str(rows["current_database_name"][0]))
            refusal = None
            if near:
                refusal = shadowed(near, self._look_up("engine/built_in_functions")["function_name"].tolist())
            if refusal is not None:
                raise refusal
        self._hold = self._owned

    @contextlib.contextmanager
    def steady(self) -> Iterator[None]:
        """Check once for all statements of the block."""
        self.check()
        before, self._hold = self._hold, True
        try:
            yield
        finally:
            self._hold = before

    def check_work(self, own: Collection[str]) -> None:
        """Refuse temporary tables and views with names like work tables, except ``own``, the engine's work tables. Raises
        InputError: ``reserved_name``."""
        rows = self._look_up("engine/temporary_names")
        if taken := [name for name in (rows["name"].tolist() if rows else []) if name not in own]:
            raise InputError(
                f"There is a temporary table or view {taken[0]!r}: names that begin with '_anondb_' are reserved for"
                " anondb's work tables.",
                code="reserved_name",
                hint="Rename it, or drop it.",
            )

    def may_have_changed(self) -> None:
        """Check again before the next statement: SQL that the user wrote may have created macros."""
        self._hold = False


def reachable(macros: Iterable[Macro], search_path: str, current: str) -> list[Macro]:
    """The macros that an unqualified call can mean: TEMP ones, and those in the schemas of DuckDB's setting ``search_path``
    (empty if it was never set); ``current`` is the current database."""
    path: set[tuple[str, str]] = set()
    for entry in _ENTRY.findall(search_path) or [("main", "")]:
        name, schema = map(_name, entry)  # a name alone is a schema of the current database, or a database
        path |= {(name, schema)} if schema else {(current.lower(), name), (name, "main")}
    return [m for m in macros if m[0] == "temp" or (m[0].lower(), m[1].lower()) in path]


def shadowed(macros: Iterable[Macro], built_in: Iterable[str]) -> InputError | None:
    """The error for reachable macros that hide a built-in function; None if there are none."""
    names = {name.lower() for name in built_in}
    hiding = [macro for macro in macros if macro[2].lower() in names]
    if not hiding:
        return None
    database, schema, name = hiding[0]
    more = f" and {len(hiding) - 1} more" if len(hiding) > 1 else ""
    hide = "hide built-in functions" if more else "hides a built-in function"
    return InputError(
        f"The macro {name!r} in {database}.{schema}{more} {hide} of DuckDB, so anondb's SQL would compute other results.",
        code="shadowed_function",
        hint="Drop or rename it, or move it to a schema that is not on the search path.",
    )


def _name(part: str) -> str:
    part = part.strip()
    return (part[1:-1].replace('""', '"') if part.startswith('"') else part).lower()
