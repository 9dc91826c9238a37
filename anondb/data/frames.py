"""Data frames as sources: what DuckDB would misread in them is refused."""

from collections.abc import Iterable
from typing import Any

from anondb.errors import InputError


def is_frame(source: Any) -> bool:
    """Whether a source is a pandas data frame, an Arrow table or a DuckDB relation."""
    return hasattr(source, "columns") or hasattr(source, "column_names")


def check_frame(frame: Any, what: str) -> None:
    """Refuse data frames that DuckDB would silently misread: sets or mixed types in cells, clashing column names."""
    names = list(getattr(frame, "column_names", None) or frame.columns)
    if len({str(n).lower() for n in names}) != len(names):
        raise InputError(f"Columns of the {what} data frame differ by case only.", code="column_clash", hint="Rename one.")
    kinds = getattr(frame, "dtypes", None)
    for name in names:
        if str(getattr(kinds, "get", lambda _: "")(name)) != "object":
            continue
        held, words = _python_types(frame[name].dropna()), f"Column {name!r} of the {what} data frame"
        if held & {set, frozenset, dict}:
            hint = "Use lists, or one row for each item."
            raise InputError(f"{words} holds Python sets or dicts.", code="bad_type", hint=hint)
        if len(held) > 1:
            raise InputError(f"{words} mixes Python types.", code="mixed_types", hint="Convert it to one type.")


def _python_types(values: Iterable[Any]) -> set[type]:
    """The Python types of the values or, if all are lists or arrays, of their elements that are not missing. A NumPy scalar
    counts as the Python type of its value."""
    kinds: set[type] = set()
    elements: set[type] = set()
    for value in values:
        if isinstance(value, list | tuple) or (hasattr(value, "__array__") and value.ndim):
            kinds.add(list)
            elements |= _python_types(v for v in value if v is not None and not (isinstance(v, float) and v != v))
        else:
            kinds.add(type(value.item()) if hasattr(value, "item") else type(value))
    return elements if kinds == {list} else kinds | elements
