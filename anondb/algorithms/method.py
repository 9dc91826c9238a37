"""``Method``, the value that describes an algorithm to the rest of anondb. The ``__init__`` of an algorithm's package
defines it without heavy imports, so the command line and the checks of options know every option without importing an
algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from anondb.errors import InputError, InternalError
from anondb.models import BOOLEAN, INTEGER, TEXT, Parameter, check_count, parameter, parameters_in
from anondb.models.named import nearest

if TYPE_CHECKING:
    from anondb.data.constraints import Requirements
    from anondb.data.records import Records
    from anondb.data.taxonomy import Taxonomy
    from anondb.data.transactions import Dataset
    from anondb.engine import Engine, Runner, Table
    from anondb.recoding import Recoding


@dataclass(frozen=True)
class NoOptions:
    """The options of a method without options."""


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """The input of a method: the promise, the sources of a policy, each read once, and the options."""

    model: Any  # the promise
    dataset: Dataset  # the transactions; a model's m above the longest, or infinity, means the longest
    requirements: Requirements  # constraints, weights and countable sets
    taxonomy: Taxonomy | None = None  # each of their items is a leaf; None if the policy names none
    # the private items of hkp, or the sensitive items of kkm and klm, which need not occur; None if the policy names
    # none
    sensitive: tuple[str, ...] | None = None
    records: Records | None = None  # the quasi-identifiers, for models of relational and transaction data
    # the table or view of the records; None without records, or if they are in a file or data frame
    records_reference: Table | None = None
    columns: Any = None  # the columns of an anatomy: their number, or a table or file (column_id, item)
    # how much of the attributes' detail may be given up for that of the items, 0 to 1 (``tum_bound``: the reverse);
    # None for the default
    delta: Any = None
    max_suppression: Fraction | None = None  # maximal percentage of suppressed items; None for no limit
    options: Any = field(default_factory=NoOptions)  # an instance of the method's options
    runner: Runner | None = None  # the database that holds the transactions, if that is another than the engine's
    accounts: tuple[Any, ...] = ()  # what was read of each file
    findings: tuple[Any, ...] = ()  # what was found about the data, and confirmed by the owner

    @property
    def tree(self) -> Taxonomy:
        """The taxonomy, for a method that needs one."""
        if self.taxonomy is None:
            raise InternalError("A method that needs a taxonomy ran without one.")
        return self.taxonomy

    @property
    def records_table(self) -> str | None:
        """The name of the table of relational records, for analysts; None without records."""
        return None if self.records is None else self.records.table


@dataclass(frozen=True, eq=False, repr=False)
class Method:
    """An algorithm."""

    name: str  # its name for users
    paper: str  # the paper that published it, or anondb
    models: tuple[str, ...]  # the names of the models that it achieves
    # computes the recoding of a task. All raise InputError for an item that is no leaf of the taxonomy, InfeasibleError for
    # too few transactions, and BudgetExceeded, with a number, for what would take too much memory or time.
    run: Callable[[Engine, Task], Recoding]
    options: type = NoOptions  # a dataclass of the options of this algorithm only; every field is made with ``option``
    needs: tuple[str, ...] = ()  # sources and parameters of a policy that it requires
    takes: tuple[str, ...] = ()  # sources and parameters that it accepts in addition; all others are refused
    # the kind of a released item: a ``node`` of the taxonomy, a ``set`` of items, or an ``item`` itself
    releases: Literal["node", "set", "item"] = "node"
    item_supports: bool = False  # whether its releases have item supports unless the owner leaves them out

    @property
    def option_parameters(self) -> dict[str, Parameter]:
        """The options by name, each with its parameter."""
        return parameters_in(self.options)

    def read_options(self, values: Mapping[str, Any]) -> Any:
        """Make the options from values, which may be texts. Raises InputError: ``unknown_option``, with the nearest name;
        ``bad_parameter``."""
        parameters = self.option_parameters
        for name in values:
            if name not in parameters:
                offer = nearest(name, parameters) or f" Its options: {', '.join(parameters) or 'none'}."
                raise InputError(f"The algorithm {self.name} has no option {name!r}.{offer}", code="unknown_option")
        return self.options(**{name: _read_option(name, parameters[name], value) for name, value in values.items()})


def by_taxonomy(task: Task) -> dict[str, Any]:
    """The arguments of an algorithm that takes the taxonomy of the items, and the method's options."""
    return {"taxonomy": task.tree, **vars(task.options)}


def imported(function: str, arguments: Callable[[Task], dict[str, Any]] = by_taxonomy) -> Callable[[Engine, Task], Recoding]:
    """The ``run`` of a method: a function ``module.name``, which is imported when it runs. It gets the transactions, the
    promise, and more arguments by name."""
    module, _, name = function.rpartition(".")

    def run(engine: Engine, task: Task) -> Recoding:
        algorithm: Callable[..., Recoding] = getattr(import_module(f"anondb.algorithms.{module}"), name)
        return algorithm(engine, task.dataset, model=task.model, **arguments(task))

    return run


def option(default: Any, help: str, *, choices: tuple[str, ...] = ()) -> Any:
    """A field of a method's options: a boolean, one of ``choices``, or a count from 1 (the default may be None)."""
    if choices:
        return parameter(default, help, "|".join(choices), choices=choices)
    if isinstance(default, bool):
        return parameter(default, help, "true|false", kinds=(BOOLEAN,))
    return parameter(default, help, "N", kinds=(INTEGER,))


def _read_option(name: str, parameter: Parameter, value: Any) -> Any:
    """Read the value of an option, from Python or from a text."""
    if parameter.choices:
        if value not in parameter.choices:
            raise InputError(f"{name} must be {' or '.join(parameter.choices)}, not {value!r}.", code="bad_parameter")
        return value
    if parameter.kinds == (BOOLEAN,):
        boolean = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else value
        if not isinstance(boolean, bool):
            raise InputError(f"{name} must be true or false, not {value!r}.", code="bad_parameter")
        return boolean
    if parameter.kinds == (INTEGER,):
        return int(check_count(name, int(value) if isinstance(value, str) and value.isdecimal() else value))
    if TEXT not in parameter.kinds:
        raise InternalError(f"The option {name} has no reader.")
    return value
