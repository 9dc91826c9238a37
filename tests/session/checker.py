"""Compares the result of a session with the truth, that is, with the rows of the query on the original tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import duckdb

import anondb

SLACK = 1e-9  # of doubles, relative to the size of the numbers
Row = dict[str, Any]


def faults(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    names: Sequence[str],
    truth: Sequence[Sequence[Any]],
    *,
    filtered: bool = False,
    every: bool = True,
    nullable: bool = False,
) -> list[tuple[str, str]]:
    """What is wrong with a result, each as the column at fault and a text.

    Args:
        columns, rows: of the result.
        names, truth: of the query on the original; ``random_queries`` says what the first letter of a name means.
        filtered: whether a condition on counts keeps rows, so that a row which is not marked is certain.
        every: whether all rows of the truth must be listed.
        nullable: whether the answer says that a number may be NULL, and bounds hold where it is not.
    """
    if [c for c in columns if c in names] != list(names) or _others(columns, names):
        return [("", f"the columns are {list(columns)} instead of {list(names)}")]
    keys = [n for n in names if n[0] == "k"]
    shown = [dict(zip(columns, row, strict=True)) for row in rows]
    true = [dict(zip(names, row, strict=True)) for row in truth]
    by_key = {_key(row, keys): row for row in shown}
    if len(by_key) < len(shown):
        return [("", f"two rows have one key: {shown}")]
    found = [fault for row in shown for name in names for fault in _ill(row, name)]
    expected = {_key(row, keys): row for row in true}
    assert len(expected) == len(true)
    for key, row in expected.items():
        if key in by_key:
            found += [fault for name in names for fault in _wrong(by_key[key], row, name, nullable)]
        elif every:
            found.append(("", f"a row is missing: {row}"))
    for key, row in by_key.items():
        if key not in expected:
            found += _not_there(row, filtered, names)
    return found


def _others(columns: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the result has columns that neither the query asks for nor bounds explain."""
    allowed = {*names, "certain", *(f"{n}_{b}" for n in names for b in ("lower", "upper"))}
    return not set(columns) <= allowed or len(columns) != len(set(columns))


def says_null(notes: Sequence[str]) -> bool:
    """Whether an answer says that a number may be NULL, so that bounds hold where it is not."""
    return any("may be NULL" in note for note in notes)


def _key(row: Row, keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[k] for k in keys)


def _ill(row: Row, name: str) -> list[tuple[str, str]]:
    """Bounds in the wrong order, an estimate outside them, or bounds that are no numbers."""
    if f"{name}_lower" not in row:
        return []
    low, high, estimate = row[f"{name}_lower"], row[f"{name}_upper"], row[name]
    if any(isinstance(b, float) and not math.isfinite(b) for b in (low, high)):
        return [(name, f"a bound is not finite: {row}")]
    if low is not None and high is not None and low > high:
        return [(name, f"the lower bound is above the upper one: {row}")]
    if estimate is not None and not _within(low, estimate, high):
        return [(name, f"the estimate is outside the bounds: {row}")]
    return []


def _wrong(row: Row, truth: Row, name: str, nullable: bool) -> list[tuple[str, str]]:
    true = truth[name]
    if name[0] in "kr" or (name[0] == "b" and row[name] in (None, true)):
        return []
    if name[0] == "b":
        return [(name, f"true is {true}: {row}")]
    if f"{name}_lower" not in row:  # a constant
        same = row[name] == true or (row[name] != row[name] and true != true)  # NaN
        return [] if same else [(name, f"no bounds, true is {true}: {row}")]
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if true is None and nullable:  # bounds hold where a number is not NULL
        return []
    if true is None or (isinstance(true, float) and math.isnan(true)):
        return [] if low is None and high is None else [(name, f"NULL, true is {true}: {row}")]
    return [] if _within(low, true, high) else [(name, f"true is {true}: {row}")]


def _not_there(row: Row, filtered: bool, names: Sequence[str]) -> list[tuple[str, str]]:
    """What is wrong if the original has no such row."""
    if row.get("certain", filtered):
        return [("", f"a row is not certain: {row}")]
    if filtered:
        return []
    counts = [n for n in names if n[0] == "c" and (row.get(f"{n}_lower") or 0) > 0]
    return [(n, f"the original has no such row: {row}") for n in counts]


def _within(low: Any, value: Any, high: Any) -> bool:
    if isinstance(value, list):
        none = [None] * len(value)
        return all(_within(*ends) for ends in zip(low or none, value, high or none, strict=True))
    if not isinstance(value, (int, float)) and not hasattr(value, "as_integer_ratio"):
        return (low is None or low <= value) and (high is None or value <= high)
    slack = SLACK * max(1.0, abs(float(value)))
    return (low is None or float(low) - slack <= value) and (high is None or value <= float(high) + slack)


def rows(named: tuple[str, anondb.Session], sql: str) -> list[tuple[object, ...]]:
    """The rows of an answer, whose numbers all have lower bounds where nothing was suppressed."""
    result = named[1].sql(sql)
    bounds = [n for n, column in enumerate(result.columns) if column.endswith("_lower")]
    listed = result.fetchall()
    assert bounds and (named[0] == "suppressed" or all(row[n] is not None for row in listed for n in bounds)), sql
    rounded = [tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row) for row in listed]
    return sorted(rounded, key=repr)


def without_bounds(session: anondb.Session, sql: str) -> str:
    """Why a query has no bounds: the refusal, or the note beside bounds that are NULL."""
    try:
        result = session.sql(sql)
    except anondb.InputError as error:
        assert error.code in ("unsupported_query", "query_too_complex"), str(error)
        return str(error)
    ends = [n for n, name in enumerate(result.columns) if name.endswith(("_lower", "_upper"))]
    assert all(row[n] is None for row in result.fetchall() for n in ends)
    said = ("o bounds, since no rule reads this: ", "Rows of persons", "Estimates alone choose the rows")
    notes = [n for n in result.notes if any(words in n for words in said)]
    assert notes, result.notes
    return " ".join(notes)


def check_bounds(
    session: anondb.Session,
    original: duckdb.DuckDBPyConnection,
    sql: str,
    words: str | None = None,
    *,
    suppressed: bool = False,
    empty: bool = False,
) -> None:
    """Check that all numbers of a query have bounds, which hold what DuckDB gives on the original.

    Args:
        session, original: of the same persons.
        sql: the query.
        words: if given, the query has no bounds or is refused, and a note or the refusal has these words.
        suppressed: whether items were suppressed: there may be no upper bounds, and rows may be missing.
        empty: whether an original may have nobody to count: then the bounds of averages and the like are NULL.
    """
    if words is not None:
        said = without_bounds(session, sql)
        assert words in said, said
        return
    result = session.sql(sql)
    rows = result.fetchall()
    assert not [note for note in result.notes if note.startswith(("No bounds", "Internal error"))], sql
    checked = () if empty else ("_lower",) if suppressed else ("_lower", "_upper")
    ends = [n for n, column in enumerate(result.columns) if column.endswith(checked)]
    assert all(row[n] is not None for row in rows for n in ends), (sql, rows)
    _check_rows(result, original, sql, every="LIMIT" not in sql and not suppressed)


def check_sound(session: anondb.Session, original: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Check that a query has bounds, which hold what DuckDB gives on the original, or NULL in their place and a note."""
    result = session.sql(sql)
    if any(note.startswith("No bounds") for note in result.notes):
        without_bounds(session, sql)
        return
    assert not any("Internal error" in note for note in result.notes)
    _check_rows(result, original, sql, every=False)


def _check_rows(result: anondb.Result, original: duckdb.DuckDBPyConnection, sql: str, *, every: bool) -> None:
    true = original.execute(sql)
    names = [column[0] for column in true.description or []]
    bounded = {name for name in names if f"{name}_lower" in result.columns}

    def marked(name: str) -> str:
        """A name with a first letter that says whether it is a key."""
        of = next((b for b in bounded if name in (b, f"{b}_lower", f"{b}_upper")), None)
        return name if name == "certain" else f"{'k' if of is None else 'n'}_{name}"

    columns = [*map(marked, result.columns)]
    how = {"filtered": True, "every": every, "nullable": says_null(result.notes)}
    found = faults(columns, result.fetchall(), [*map(marked, names)], true.fetchall(), **how)
    assert not found, (sql, found)
