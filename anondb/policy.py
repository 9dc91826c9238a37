"""``Policy``: the sources, the promise and the options of one release, from flags, Python or SQL."""

import contextlib
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from anondb.algorithms import METHODS
from anondb.algorithms.method import Method
from anondb.errors import InputError
from anondb.models import (
    ALGORITHM,
    BOOLEAN,
    DATA,
    INTEGER,
    MAX_PARAMETER,
    NUMBER,
    OUTPUT,
    TEXT,
    Model,
    Parameter,
    check_count,
    digits,
    parameter,
    parameters_in,
)
from anondb.models.anatomy import EMPTY_VALUES
from anondb.models.named import MODELS, nearest
from anondb.models.relational import KkmAnonymity
from anondb.models.transactional import KmAnonymity
from anondb.promises import PROMISES
from anondb.reading.options import DETECTED, PEOPLE, Reading, read_as


@dataclass(frozen=True)
class Workload:
    """The workload that measures accuracy: the owner's queries (``table``), or ``queries`` random ones of ``size`` items,
    drawn with ``seed`` from all items (``draw="all"``) or from generalized items (``draw="generalized"``). Raises
    InputError: ``bad_parameter``."""

    queries: int = parameter(1000, "Random COUNT queries that measure accuracy; 0 for none.", kinds=(INTEGER,), panel=OUTPUT)
    size: int = parameter(2, "Items of each random query.", kinds=(INTEGER,), panel=OUTPUT)
    seed: int = parameter(0, "Seed of the random queries.", kinds=(INTEGER,), panel=OUTPUT)
    draw: str = parameter("all", "Draw queries from all items, or from generalized ones.", "all|generalized", panel=OUTPUT)
    table: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.table, str | Path) and str(self.table).lower().endswith(".sql"):
            raise InputError(
                "This workload is a table or a data file of (query_id, item), and no log of SQL.",
                code="bad_usage",
                hint="anondb accuracy measures a log on a release that is made, and anondb compare on several.",
            )
        for name, low in (("queries", 0), ("size", 1), ("seed", 0)):
            value = getattr(self, name)
            high = 2**63 - 1 if name == "seed" else MAX_PARAMETER
            integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not integral or not low <= int(value) <= high:
                shown = "" if integral else f", not {value!r}"
                raise InputError(f"{name} must be an integer from {low} to {high}{shown}.", code="bad_parameter")
            object.__setattr__(self, name, int(value))
        if self.draw not in ("all", "generalized"):
            raise InputError(f"draw must be all or generalized, not {self.draw!r}.", code="bad_parameter")


LEDGER_COLUMNS = ("algorithm", "id", "item")  # attributes of the policy with columns of their own in the ledger
MAX_PARAMETERS = 100  # longest list that the ledger records entry by entry


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A request for a release, validated at construction. ``options.policy_of`` makes one from options by name.

    Attributes:
        transactions: table name, file, data frame, Arrow table or query tree.
        model: the promise.
        name: the name of the release; None takes the name of the source.
        workload: the workload that measures accuracy.
        replace: whether to replace an existing release of the same name.
        algorithm: the name of the method that computes it; None takes the model's default (the first in ``METHODS`` whose
            needs are met).
        options: the options of the method, by name; ``method_options`` has them as a dataclass.
        reading: how the transactions are read.
        accept: the findings of the preflight (``anondb.data.preflight``) that the owner confirms.

    The declarations below describe the other attributes. For COAT and PCTA, ``weights`` are w of the utility loss: from 0
    to 1, ``taxonomy`` (the share of leaves below the lowest common ancestor), or 1, the default. For kkm and klm they are w
    of the quasi-identifiers in the NCP: 1/v for those not named. ``utility_constraints`` may be ``level:2``, a group of
    the items below each node of level 2 of the taxonomy (the root is level 0), or ``siblings:5``, groups of 5 neighbouring
    leaves.

    Raises:
        InputError: unknown model or algorithm, parameters out of range, or incompatible options.
    """

    transactions: Any
    model: Model = field(default_factory=KmAnonymity)
    name: str | None = None
    workload: Workload = field(default_factory=Workload)
    replace: bool = False
    algorithm: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading = DETECTED
    id: str = parameter("tid", "Column that identifies a person.", "COL", panel=DATA)
    population: str | None = parameter(
        None, "Whom the ids mean: equal ids of two populations that you name are different people.", "NAME", panel=DATA
    )
    item: str = parameter("item", "Column of items; a LIST column is accepted.", "COL", panel=DATA)
    taxonomy: Any = parameter(None, "Taxonomy of the items.", "TABLE|FILE", panel=DATA)
    records: Any = parameter(
        None,
        "Table with the same id column; ids only there have no items. By default that of the transactions.",
        "TABLE",
        panel=DATA,
    )
    quasi_identifiers: Any = parameter(
        None,
        "The columns of the records that attackers may know; all others are left out.",
        "A,B[:numeric|date|categorical]",
        panel=DATA,
    )
    hierarchies: Any = parameter(
        None, "Of categorical columns: (attribute, node, parent), or NAME.tree files.", "TABLE|DIR", panel=DATA
    )
    domains: Any = parameter(
        None, "Domains of quasi-identifiers that are numbers or dates (attribute, low, high).", "TABLE|FILE", panel=DATA
    )
    weights: Any = parameter(
        None,
        "Weights of items (item, weight), or of quasi-identifiers (attribute, weight).",
        "TABLE|FILE|taxonomy|1",
        kinds=(TEXT, INTEGER),
        panel=DATA,
    )
    bag_input: bool = parameter(False, "Repeated rows of a transaction count.", kinds=(BOOLEAN,), panel=DATA)
    accept: Any = parameter((), "A finding about the data that you confirm.", "FINDING", panel=DATA, repeatable=True)
    sensitive: Any = parameter(None, "Private items of hkp, sensitive ones of kkm and klm (column item).", "TABLE|FILE")
    privacy_constraints: Any = parameter(None, "Itemsets (constraint_id, item), or pgen.", "TABLE|FILE|pgen")
    utility_constraints: Any = parameter(
        None, "Groups of items (group_id, item), or from the taxonomy: level:2, siblings:5.", "TABLE|FILE|level:N|siblings:N"
    )
    countable: Any = parameter(None, "Sets of items whose counts must stay exact (set_id, item).", "TABLE|FILE")
    max_suppression: Fraction | None = parameter(
        None, "Percent of the items that may be suppressed.", "PERCENT", kinds=(NUMBER, TEXT)
    )
    delta: Any = parameter(
        None,
        "How much of the attributes' detail may be given up for that of the items, 0 to 1 (default 0.65);"
        " tum_bound: the reverse.",
        "NUMBER",
        kinds=(NUMBER, TEXT),
    )
    columns: Any = parameter(
        None, "How many columns, or your own (column_id, item).", "N|TABLE|FILE", kinds=(INTEGER, TEXT), read=digits
    )
    empty_values: str | None = parameter(
        None, "Whether the empty value of a column counts.", "|".join(EMPTY_VALUES), choices=EMPTY_VALUES
    )
    item_supports: bool | None = parameter(
        None, "Also publish how often each item occurs, in buckets of k.", kinds=(BOOLEAN,), panel=OUTPUT
    )
    modelled_rows: bool = parameter(
        False,
        "Also publish one table that the release permits, under the original's names in the schema modelled.",
        kinds=(BOOLEAN,),
        panel=OUTPUT,
    )
    on_engine: bool | None = parameter(
        None,
        "Work inside PostgreSQL, or fetch its rows; by default, many rows stay there.",
        kinds=(BOOLEAN,),
        panel=ALGORITHM,
    )
    values: int | None = parameter(
        None, "Relational values of a random query, beside --size items (default 1).", kinds=(INTEGER,), panel=OUTPUT
    )

    def __post_init__(self) -> None:
        if getattr(self.model, "name", None) not in MODELS or isinstance(self.model, type):
            raise InputError(
                f"The model must be one of anondb's, such as KmAnonymity(k=5, m=2), not {type(self.model).__name__}.",
                code="bad_parameter",
            )
        if self.reading.layout == PEOPLE and not isinstance(self.model, KkmAnonymity):
            raise InputError(
                f"The layout people has no items, and {self.model.name} is a promise about items.",
                code="bad_usage",
                hint="Use --model kkm with --quasi-identifiers, which is k-anonymity here. For l-diversity name the column"
                " that must not be guessed with --item, its sensitive values with --sensitive, and --model klm.",
            )
        object.__setattr__(self, "max_suppression", percent(self.max_suppression))
        object.__setattr__(self, "accept", accepted(self.accept))
        if self.records is None and self.quasi_identifiers is not None and PROMISES[self.model.name].relational:
            object.__setattr__(self, "records", self.transactions)
        object.__setattr__(self, "algorithm", choose_algorithm(self.model, self.algorithm, self._present, self.options))
        object.__setattr__(self, "options", dict(self.options))
        _ = self.method_options  # raises an error for a value out of range
        if shared := {name: getattr(self, name) for name in PROMISES[self.model.name].parameters if name in SOURCES}:
            completed: Any = getattr(self.model, "completed")  # noqa: B009
            object.__setattr__(self, "model", completed(**shared))
        if self.item_supports is None and self.method.item_supports:
            object.__setattr__(self, "item_supports", True)
        if self.item_supports:
            PROMISES[self.model.name].check_item_supports()
        if self.values is not None:
            object.__setattr__(self, "values", int(check_count("values", self.values)))
        for name in ("id", "item"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InputError(f"The column name in {name} is empty.", code="empty_name")
        if self.population is not None and not str(self.population).strip():
            raise InputError("The name in population is empty.", code="empty_name")

    @property
    def _present(self) -> dict[str, Any]:
        """The sources and parameters that the owner set."""
        return {name: value for name in SOURCES if (value := getattr(self, name)) is not getattr(type(self), name)}

    @cached_property
    def rows(self) -> Any:
        """The transactions, with how they are read, and their columns."""
        return read_as(self.transactions, self.reading.texts(), id=self.id, item=self.item)

    @property
    def people(self) -> Any:
        """The records, with how they are read: as the transactions if they are the same source."""
        if self.records is None:
            return None
        both = (self.records, self.transactions)
        if both[0] is both[1] or (all(isinstance(x, str | Path) for x in both) and Path(both[0]) == Path(both[1])):
            return self.rows
        return self.records

    @property
    def method(self) -> Method:
        """The algorithm."""
        return METHODS[str(self.algorithm)]

    @cached_property
    def method_options(self) -> Any:
        """The options of the method, as a dataclass."""
        return self.method.read_options(self.options)

    def ledger_options(self) -> dict[str, Any]:
        """The policy in the form of the ledger: the options that were set; a data frame becomes the name of its type."""
        present = {name: _shown(value) for name, value in self._present.items() if name not in LEDGER_COLUMNS}
        of_method = {name: getattr(self.method_options, name) for name in self.options}
        of_reading = self.reading.texts()
        return {**self.model.parameters(), "max_suppression": None, **present, **of_reading, **of_method}


# The options of a policy other than those of methods, each with its description.
SOURCES: Mapping[str, Parameter] = parameters_in(Policy)
FOR_ALL = ("id", "population", "item", "records", "item_supports", "modelled_rows", "on_engine", "accept")


def choose_algorithm(
    model: Model, wanted: str | None, present: Mapping[str, Any], options: Mapping[str, Any] | None = None
) -> str:
    """Choose the algorithm for a model: the wanted one, else the first that keeps the model and whose needs are met;
    ``present`` are the sources and parameters that the owner set, ``options`` those of a method. Raises InputError:
    ``unknown_algorithm``; ``no_taxonomy`` or ``bad_usage`` if an input is missing, or incompatible with the algorithm."""
    fitting = [name for name, method in METHODS.items() if model.name in method.models]
    ready = [name for name in fitting if all(need in present for need in METHODS[name].needs)]
    chosen = wanted or (ready[0] if ready else fitting[0])
    if chosen not in fitting:
        raise InputError(
            f"There is no algorithm {chosen!r} for the model {model.name}, only {', '.join(fitting)}."
            f"{nearest(str(chosen), fitting)}",
            code="unknown_algorithm",
        )
    method, promise = METHODS[chosen], PROMISES[model.name]
    needs = [(f"The algorithm {chosen}", need) for need in method.needs]
    needs += [(f"The model {model.name}", need) for need in promise.needs]
    for who, need in needs:
        if need not in present:
            hint = f"Name it with --{need.replace('_', '-')} {SOURCES[need].metavar}."
            raise InputError(f"{who} needs {need}.", code=f"no_{need}", hint=hint)
    for name in present:
        owners = [p.name for p in PROMISES.values() if name in (*p.needs, *p.takes)]
        if owners and model.name not in owners:
            named = f"model{'s' * (len(owners) > 1)} {', '.join(owners)}"
            raise InputError(f"{name} applies to the {named}, not to {model.name}.", code="bad_usage")
    for name in (*present, *(options or ())):
        applies = name in (*FOR_ALL, *method.needs, *method.takes, *method.option_parameters)
        if not applies and (takers := takers_of(name)):
            others = dict.fromkeys(model for taker in takers for model in METHODS[taker].models)
            advice = None if model.name in others else f"They need --model {' or '.join(others)}."
            words = f"{name} does not apply to {chosen}: it applies to {', '.join(takers)}."
            raise InputError(words, code="bad_usage", hint=advice)
    return chosen


def takers_of(name: str) -> list[str]:
    """The methods that take a source, parameter or option."""
    return [m.name for m in METHODS.values() if name in (*m.needs, *m.takes, *m.option_parameters)]


def accepted(value: Any) -> tuple[str, ...]:
    """The findings that an owner confirms: names in a text that separates them by commas, or in a list."""
    texts = value.split(",") if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise InputError("accept must be the names of findings.", code="bad_parameter")
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _shown(value: Any) -> Any:
    """An option as a JSON value."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | Mapping) and len(value) > MAX_PARAMETERS:
        return f"{len(value)} entries"
    if isinstance(value, list | tuple):
        return [_shown(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _shown(part) for name, part in value.items()}
    return str(value) if isinstance(value, Fraction | Path) else type(value).__name__


def percent(value: Any) -> Fraction | None:
    """Convert a percentage of items to an exact fraction; None means no limit. Raises InputError: ``bad_parameter``."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real | str):
        raise InputError(f"max_suppression must be a percentage from 0 to 100, not {value!r}.", code="bad_parameter")
    share = Fraction(-1)
    if isinstance(value, numbers.Rational):
        share = Fraction(value)
    elif len(text := str(value)) <= 40 and not re.search(r"e[+-]?\d{3}", text, re.I):  # 1e999999999 would fill the memory
        with contextlib.suppress(ValueError, ZeroDivisionError):
            share = Fraction(text)
    if not 0 <= share <= 100:
        shown = f", not {value!r}" if not isinstance(value, numbers.Rational) and len(str(value)) <= 40 else ""
        raise InputError(f"max_suppression must be a percentage from 0 to 100{shown}.", code="bad_parameter")
    return share
