"""What to protect and how: one value, whether it came from flags, Python or SQL."""

from __future__ import annotations

import contextlib
import difflib
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict

from anondb.available import ALGORITHMS, FOR_ALL, MODELS, all_parameters, choose_algorithm, make_model, parse_m
from anondb.errors import InputError
from anondb.models import MAX_PARAMETER, Model, check_count
from anondb.models.anatomy import Anatomy
from anondb.models.km import KmAnonymity


@dataclass(frozen=True)
class Workload:
    """How accuracy is measured: the owner's own queries, or ``queries`` random ones of ``size`` items, drawn with ``seed``
    from all items (``draw="all"``) or from those that are generalized (``draw="generalized"``).

    Raises:
        InputError: ``bad_parameter``.
    """

    queries: int = 1000
    size: int = 2
    seed: int = 0
    draw: str = "all"
    own: Any = None

    def __post_init__(self) -> None:
        for name, low in (("queries", 1), ("size", 1), ("seed", 0)):
            value = getattr(self, name)
            high = 2**63 - 1 if name == "seed" else MAX_PARAMETER
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or not low <= int(value) <= high:
                shown = "" if whole else f", not {value!r}"
                raise InputError(f"{name} must be an integer from {low} to {high}{shown}.", code="bad_parameter")
            object.__setattr__(self, name, int(value))
        if self.draw not in ("all", "generalized"):
            raise InputError(f"draw must be all or generalized, not {self.draw!r}.", code="bad_parameter")


LEDGER_COLUMNS = ("algorithm", "id", "item")  # of the policy, which the ledger has beside it
MAX_STATED = 100  # entries of a list that the ledger has one by one
CHOICES: Mapping[str, tuple[str, ...]] = {"empty_transactions": ("absorb", "keep"), "objective": ("total", "increase")}


class Options(TypedDict, total=False):
    """The options of a policy beside its source, model, name and workload (design 2.1); see ``Policy``."""

    taxonomy: Any
    algorithm: str | None
    id: str
    item: str
    records: Any
    quasi_identifiers: Any
    hierarchies: Any
    sensitive: Any
    privacy_constraints: Any
    utility_constraints: Any
    weights: Any
    domains: Any
    countable: Any
    max_suppression: Any
    columns: Any
    empty_values: str | None
    empty_transactions: str | None
    candidates: int | None
    objective: str | None
    bag_input: bool
    delta: Any
    infeasible: str | None
    values: int | None
    literal: bool
    correlation: str | None
    spread: bool


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A request for a release, validated when made.

    Attributes:
        transactions: table name, file, data frame, Arrow table or query tree.
        model: the promise.
        name: of the release; None takes the name of the source.
        workload: how accuracy is measured.
        replace: whether an existing release of the same name gives way.
        algorithm: who computes it; None takes the model's default (``available.ALGORITHMS``).
        id, item: columns of the transactions.
        taxonomy: table name, file or data frame.
        records: a table with the same id column; ids that only it has are transactions without items.
        quasi_identifiers, hierarchies: for data with records: the attributes that attackers may know, and their hierarchies.
        sensitive: the sensitive items of klm, the private items of hkp: a table or file.
        privacy_constraints: of the model constraints: a table or file (constraint_id, item), or ``pgen``.
        utility_constraints: for coat: a table or file (group_id, item); only items of one group are generalized together.
            ``level:2`` makes a group of the items below each node of level 2 of the taxonomy (the root is level 0),
            ``siblings:5`` groups of 5 neighbouring leaves.
        weights: for coat: w of its utility loss: a table or file (item, weight) with weights from 0 to 1, ``taxonomy`` (the
            share of leaves below the lowest common ancestor; the default with a taxonomy), or 1. For kkm and klm: w of the
            quasi-identifiers in the NCP: a table or file (attribute, weight), 1/v for those that it does not name.
        domains: for kkm and klm: domains of numbers and dates: a table or file (attribute, low, high); the range of the
            values by default.
        countable: for coat: a table or file (set_id, item) of sets whose counts must stay exact; checked and reported.
        max_suppression: percent of the items that may be suppressed; None sets no limit, except that not everything may be.
        columns: for multi_anatomy: their number, or a table or file (column_id, item). A number is the model's own.
        empty_values: for multi_anatomy: ``count`` or ``ignore``, the model's own parameter.
        empty_transactions: what becomes of few empty transactions.
        candidates, objective: for clump: how many clusters are tried, and what is minimized (``total`` or ``increase``).
        bag_input: for clump: whether rows that repeat an item of the same transaction count.
        delta: the bound of rum_bound and tum_bound, from 0 to 1.
        infeasible: for kkm and klm: what becomes of a cluster of records that generalizing its items does not help.
        values: for kkm and klm: how many relational values the random queries ask for beside their items; 1 by default.
        literal: for coat: follow the printed algorithm.
        correlation: for multi_anatomy: what items are clustered by, ``truncated`` (as printed) or ``full``.
        spread: for multi_anatomy: take records round-robin from the most frequent values.

    Raises:
        InputError: unknown model or algorithm, parameters out of range, or options that do not go together.
    """

    transactions: Any
    model: Model = field(default_factory=KmAnonymity)
    name: str | None = None
    workload: Workload = field(default_factory=Workload)
    replace: bool = False
    algorithm: str | None = None
    id: str = "tid"
    item: str = "item"
    taxonomy: Any = None
    records: Any = None
    quasi_identifiers: Any = None
    hierarchies: Any = None
    sensitive: Any = None
    privacy_constraints: Any = None
    utility_constraints: Any = None
    weights: Any = None
    domains: Any = None
    countable: Any = None
    max_suppression: Fraction | None = None
    columns: Any = None
    empty_values: str | None = None
    empty_transactions: str | None = None
    candidates: int | None = None
    objective: str | None = None
    bag_input: bool = False
    delta: Any = None
    infeasible: str | None = None
    values: int | None = None
    literal: bool = False
    correlation: str | None = None
    spread: bool = False

    def __post_init__(self) -> None:
        if getattr(self.model, "name", None) not in MODELS or isinstance(self.model, type):
            raise InputError(
                f"The model must be one of anondb's, such as KmAnonymity(k=5, m=2), not {type(self.model).__name__}.",
                code="bad_parameter",
            )
        object.__setattr__(self, "max_suppression", _percent(self.max_suppression))
        given = {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not f.default}
        options = {name: value for name, value in given.items() if name in Options.__annotations__}
        options.pop("algorithm", None)
        object.__setattr__(self, "algorithm", choose_algorithm(self.model, self.algorithm, options))
        if isinstance(self.model, Anatomy):
            object.__setattr__(self, "model", self.model.completed(self.columns, self.empty_values))
        for name, choices in CHOICES.items():
            if getattr(self, name) not in (None, *choices):
                raise InputError(
                    f"{name} must be {' or '.join(choices)}, not {getattr(self, name)!r}.", code="bad_parameter"
                )
        for name in ("candidates", "values"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, int(check_count(name, getattr(self, name))))
        for name in ("id", "item"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InputError(f"The column name given as {name} is empty.", code="empty_name")

    def options(self) -> dict[str, Any]:
        """The policy as it is written into the ledger: what was stated, data frames by their type's name."""
        stated = {
            name: _stated(value)
            for name in Options.__annotations__
            if name not in LEDGER_COLUMNS and (value := getattr(self, name)) is not getattr(type(self), name)
        }
        return {**self.model.parameters(), "max_suppression": None, **stated}


def _stated(value: Any) -> Any:
    """An option as a JSON value."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | Mapping) and len(value) > MAX_STATED:
        return f"{len(value)} entries"
    if isinstance(value, list | tuple):
        return [_stated(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _stated(part) for name, part in value.items()}
    return str(value) if isinstance(value, Fraction | Path) else type(value).__name__


def _percent(value: Any) -> Fraction | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real | str):
        raise InputError(f"max_suppression must be a percentage from 0 to 100, not {value!r}.", code="bad_parameter")
    percent = Fraction(-1)
    if isinstance(value, numbers.Rational):
        percent = Fraction(value)
    elif len(text := str(value)) <= 40 and not re.search(
        r"e[+-]?\d{3}", text, re.I
    ):  # 1e999999999 would fill the memory
        with contextlib.suppress(ValueError, ZeroDivisionError):
            percent = Fraction(text)
    if not 0 <= percent <= 100:
        shown = f", not {value!r}" if not isinstance(value, numbers.Rational) and len(str(value)) <= 40 else ""
        raise InputError(f"max_suppression must be a percentage from 0 to 100{shown}.", code="bad_parameter")
    return percent


# ---------------------------------------------------------------------- options of CREATE ANONYMIZED VIEW (design 2.3)

_TEXT, _INTEGER, _NUMBER, _BOOLEAN = "a text", "an integer", "a number", "true or false"
OPTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("id", "item", "taxonomy", "records", "quasi_identifiers", "hierarchies", "domains"), (_TEXT,)),
    **dict.fromkeys(
        ("model", "algorithm", "sensitive", "infeasible", "privacy_constraints", "utility_constraints", "objective"),
        (_TEXT,),
    ),
    "weights": (_TEXT, _INTEGER),
    "countable": (_TEXT,),
    "correlation": (_TEXT,),
    **dict.fromkeys(("empty_values", "empty_transactions", "draw", "workload", "publish"), (_TEXT,)),
    **dict.fromkeys(("k", "queries", "size", "seed", "candidates", "values"), (_INTEGER,)),
    **dict.fromkeys(("literal", "spread", "allow_overlap", "bag_input"), (_BOOLEAN,)),
    "m": (_INTEGER, _TEXT),
    "p": (_INTEGER, _TEXT),
    "h": (_NUMBER, _TEXT),
    "l": (_NUMBER, _TEXT),
    "max_suppression": (_NUMBER, _TEXT),
    "delta": (_NUMBER,),
    "columns": (_INTEGER, _TEXT),
}
_ELSEWHERE = {
    "transactions": "The query after AS says what is read.",
    "release": "The release is called like the view.",
    "name": "The release is called like the view.",
    "replace": "Use CREATE OR REPLACE.",
    "threads": "It belongs to the connection.",
    "memory_limit": "It belongs to the connection.",
}


def _parts() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The options that go to the model, to the policy itself and to its workload."""
    taken = {*FOR_ALL, "algorithm", *(o for a in ALGORITHMS.values() for o in (*a.needs, *a.options))}
    own = tuple(name for name in Options.__annotations__ if name in taken)
    model = tuple(name for name in all_parameters() if name not in own)  # what is both goes through the policy
    return model, own, tuple(f.name for f in fields(Workload) if f.name != "own")


def check_option(name: str, value: str | int | float | bool) -> str | int | float | bool:
    """One option of ``CREATE ANONYMIZED VIEW``: that it exists, and that its value has the right type.

    Raises:
        InputError: ``unknown_option`` with the nearest names, or ``bad_parameter``.
    """
    available = {n for part in _parts() for n in part} | {"model", "workload", "publish", "allow_overlap"}
    if name not in available:
        if name in _ELSEWHERE:
            raise InputError(f"{name!r} is no option of a view. {_ELSEWHERE[name]}", code="unknown_option")
        close = difflib.get_close_matches(name, sorted(available), n=3)
        offer = (
            f"Did you mean {' or '.join(map(repr, close))}?" if close else f"There are {', '.join(sorted(available))}."
        )
        raise InputError(f"There is no option {name!r}. {offer}", code="unknown_option")
    kinds = OPTIONS.get(name, (_TEXT, _NUMBER, _BOOLEAN))
    found = {bool: {_BOOLEAN}, int: {_INTEGER, _NUMBER}, float: {_NUMBER}, str: {_TEXT}}[type(value)]
    if not found & set(kinds):
        shown = repr(value) if isinstance(value, str) else str(value).lower()
        raise InputError(f"{name} must be {' or '.join(kinds)}, not {shown}.", code="bad_parameter")
    if name == "m":
        parse_m(value)
    if name == "max_suppression":
        _percent(value)
    return value


def from_options(
    name: str, transactions: Any, options: Mapping[str, str | int | float | bool], *, replace: bool = False
) -> Policy:
    """The policy that a ``CREATE ANONYMIZED VIEW`` states, its options checked one by one.

    ``publish`` and ``allow_overlap`` are no part of a policy and are left to the caller.

    Raises:
        InputError: see ``check_option`` and ``Policy``.
    """
    for option, value in options.items():
        check_option(option, value)
    model, own, workload = _parts()
    queries: dict[str, Any] = {n: options[n] for n in workload if n in options}
    return Policy(
        transactions,
        model=make_model(str(options.get("model", "km")), **{n: options[n] for n in model if n in options}),
        name=name,
        workload=Workload(**queries, own=options.get("workload")),
        replace=replace,
        **{n: options[n] for n in own if n in options},  # type: ignore[arg-type]
    )
