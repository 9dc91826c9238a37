"""The promises: small frozen values, each with its definition in the docstring; no SQL."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from typing import Any, ClassVar

from anondb.errors import InputError

MAX_PARAMETER = 2**31 - 1
MOST_THREADS = 1024  # DuckDB starts as many as it is told to


def check_count(name: str, value: Any, *, infinity: bool = False, low: int = 1, high: int = MAX_PARAMETER) -> int | float:
    """Check an exact integer from ``low`` to ``high`` (Python or NumPy; not bool, float or text), or infinity where allowed.
    Raises InputError: ``bad_parameter``, with the offending value, since a parameter is not data."""
    if infinity and isinstance(value, numbers.Real) and not isinstance(value, bool) and value == math.inf:
        return math.inf
    wanted = f"an integer from {low} to {high}" + (", or infinity" if infinity else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} must be {wanted}, not {value!r}.", code="bad_parameter")
    number = int(value)
    if not low <= number <= high:
        shown = str(number) if abs(number) < 10**40 else "a number of more than 40 digits"
        raise InputError(f"{name} must be {wanted}, not {shown}.", code="bad_parameter")
    return number


TEXT, INTEGER, NUMBER, BOOLEAN = "a text", "an integer", "a number", "true or false"
# The panels of --help.
DATA, READ, PROMISE, ALGORITHM, OUTPUT, GENERAL = "Data", "Reading", "Promise", "Algorithm", "Output", "Options"


@dataclass(frozen=True)
class Parameter:
    """How users set a parameter or an option: on the command line, in Python and in ``WITH (...)``."""

    help: str  # its help text
    metavar: str | None = None  # the placeholder of its value on the command line; None shows the type
    # the types of a value in ``WITH (...)``: ``TEXT``, ``INTEGER``, ``NUMBER``, ``BOOLEAN``
    kinds: tuple[str, ...] = (TEXT,)
    read: Callable[[Any], Any] | None = None  # converts a text to a value; None if texts are values
    choices: tuple[str, ...] = ()  # the allowed texts; empty if all are allowed
    panel: str = PROMISE  # its panel in ``--help``
    repeatable: bool = False  # whether the flag may be repeated; its value is then a list


def parameter(
    default: Any, help: str, metavar: str | None = None, *, check: Callable[[str, Any], Any] | None = None, **how: Any
) -> Any:
    """A dataclass field that users can set: its default, and how they set it; ``check`` checks and converts its value."""
    return field(default=default, metadata={"parameter": Parameter(help, metavar, **how), "check": check})


def parameters_in(defined: Any) -> dict[str, Parameter]:
    """The fields of a dataclass that users can set, by name."""
    return {f.name: f.metadata["parameter"] for f in fields(defined) if "parameter" in f.metadata}


def count_or_infinity(name: str) -> Callable[[Any], int | float]:
    """A reader of a number of items from a flag or an option: an integer, or ``inf``."""

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value.strip().lower() in ("inf", "infinity"):
            return math.inf
        if not re.fullmatch(r"[+-]?\d{1,30}", value.strip()):
            raise InputError(f"{name} must be an integer or inf, not {value[:40]!r}.", code="bad_parameter")
        return int(value)

    return read


def digits(value: Any) -> Any:
    """Convert a text of digits to an integer; return anything else unchanged, for the model to read or refuse."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"\s*\d{1,30}\s*", value) else value


def whole(default: int, help: str, metavar: str | None = None, kinds: tuple[str, ...] = (INTEGER,)) -> Any:
    """A parameter that is an exact integer from 1."""
    return parameter(default, help, metavar, check=check_count, kinds=kinds, read=digits)


def whole_or_infinity(name: str, help: str) -> Any:
    """A parameter that is an exact integer from 1, by default 2, or infinity."""
    how: dict[str, Any] = {"kinds": (INTEGER, TEXT), "read": count_or_infinity(name)}
    return parameter(2, help, f"{name.upper()}|inf", check=partial(check_count, infinity=True), **how)


def parameter_k() -> Any:
    """The parameter k, which most models have."""
    return whole(5, "Every known combination leaves at least k candidates (default 5).")


def parameter_m() -> Any:
    """The parameter m of the models that bound an attacker's knowledge."""
    return whole_or_infinity("m", "Items that an attacker may know: an integer (default 2), or inf.")


@dataclass(frozen=True)
class Model:
    """A model: its name, its parameters, which are its fields, and the promise in words.

    ``layout`` is the form of its releases: ``transactions`` (rows of released items), ``local`` (the same, but released
    items may overlap), ``records`` (rows and relational values) or ``buckets``. ``words`` are the promise in a few words,
    with its parameters in braces. ``supports`` says whether its releases may have item supports.
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    words: ClassVar[str] = ""
    supports: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for defined in fields(self):
            if (check := defined.metadata.get("check")) is not None:
                object.__setattr__(self, defined.name, check(defined.name, getattr(self, defined.name)))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest: infinity is ``inf``, a fraction a text; those that are
        None are left out."""
        values = {defined.name: getattr(self, defined.name) for defined in fields(self)}
        return {n: v if isinstance(v, int) else str(v) for n, v in values.items() if v is not None}

    @property
    def promise(self) -> str:
        """The promise in a few words, such as ``5^2-anonymity``."""
        return self.words.format(**self.parameters())


def json_of(value: Any, *names: str) -> Any:
    """A value as JSON values: fractions and paths as texts, objects by their ``to_json`` or their fields. With ``names``, a
    dictionary of these fields of it."""
    if names:
        return {name: json_of(getattr(value, name)) for name in names}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: json_of(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_of(part) for part in value]
    if isinstance(value, Fraction | PurePath):
        return str(value)
    return value.to_json() if hasattr(value, "to_json") else json_of(vars(value))


class AsJson:
    """A dataclass whose JSON values are its fields by name."""

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return dict(json_of(vars(self)))


class AsTable(AsJson):
    """A dataclass that notebooks show as a table, once ``table`` says how; until then by its repr."""

    table: ClassVar[Callable[[AsTable], str] | None] = None

    def _repr_html_(self) -> str | None:
        return None if AsTable.table is None else AsTable.table(self)
