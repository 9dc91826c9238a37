"""What an algorithm is for the rest of anondb: one value, a ``Method``.

The ``__init__`` of an algorithm's room states it and imports nothing heavy, so that the command line and the refusals know
every option without importing an algorithm.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from anondb.errors import InputError, InternalError
from anondb.models import BOOLEAN, INTEGER, TEXT, Parameter, check_count, parameter, parameter_of

if TYPE_CHECKING:
    from anondb.data.records import Records
    from anondb.data.requirements import Requirements
    from anondb.data.taxonomy import Taxonomy
    from anondb.data.transactions import Dataset
    from anondb.engine import Engine, Table
    from anondb.recoding import Recoding


@dataclass(frozen=True)
class NoOptions:
    """The options of a method that has none."""


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What a method works on: the promise, the sources of a policy, each read once, and its options.

    Attributes:
        model: the promise.
        dataset: the transactions.
        taxonomy: of their items, where the policy names one.
        requirements: constraints, weights and countable sets.
        sensitive: the private items of hkp, the sensitive ones of kkm and klm, which need not occur; None where none were
            named.
        records: the quasi-identifiers, for models of relational and transaction data.
        records_reference: the table or view of the records; None where there are none, or a file or a data frame.
        columns: of an anatomy: their number, or a table or file (column_id, item).
        delta: the bound of the relational methods, from 0 to 1; None takes their default.
        max_suppression: percent of the items that may be suppressed; None sets no limit.
        options: an instance of the method's options.
    """

    model: Any
    dataset: Dataset
    requirements: Requirements
    taxonomy: Taxonomy | None = None
    sensitive: tuple[str, ...] | None = None
    records: Records | None = None
    records_reference: Table | None = None
    columns: Any = None
    delta: Any = None
    max_suppression: Fraction | None = None
    options: Any = field(default_factory=NoOptions)

    @property
    def tree(self) -> Taxonomy:
        """The taxonomy, for a method that needs one."""
        if self.taxonomy is None:
            raise InternalError("A method that needs a taxonomy ran without one.")
        return self.taxonomy


@dataclass(frozen=True, eq=False, repr=False)
class Method:
    """An algorithm.

    Attributes:
        name: what users call it.
        paper: where it was published.
        models: the names of the models that it keeps.
        run: computes the recoding of a task.
        options: a dataclass of what steers this algorithm alone; every field is made with ``option``.
        needs: sources and parameters of a policy without which it cannot run.
        takes: further ones that it takes; all others are refused with it.
        releases: what a released item is: a ``node`` of the taxonomy, a ``set`` of items, or an ``item`` itself.
    """

    name: str
    paper: str
    models: tuple[str, ...]
    run: Callable[[Engine, Task], Recoding]
    options: type = NoOptions
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    releases: Literal["node", "set", "item"] = "node"

    @property
    def option_parameters(self) -> dict[str, Parameter]:
        """Its options by name, and how each is set."""
        return {f.name: s for f in fields(self.options) if (s := parameter_of(f)) is not None}

    def read_options(self, values: Mapping[str, Any]) -> Any:
        """Its options with these values, which may be texts.

        Raises:
            InputError: ``unknown_option``, with the nearest name; ``bad_parameter``.
        """
        parameters = self.option_parameters
        for name in values:
            if name not in parameters:
                known = ", ".join(parameters) or "none"
                close = difflib.get_close_matches(name, parameters, n=1)
                offer = f" Did you mean {close[0]!r}?" if close else f" Its options: {known}."
                raise InputError(f"The algorithm {self.name} has no option {name!r}.{offer}", code="unknown_option")
        return self.options(**{name: _read_option(name, parameters[name], value) for name, value in values.items()})


def option(default: Any, help: str, *, choices: tuple[str, ...] = ()) -> Any:
    """A field of a method's options: True or False, one of ``choices``, or a count from 1 (its default may be None)."""
    if choices:
        return parameter(default, help, "|".join(choices), choices=choices)
    if isinstance(default, bool):
        return parameter(default, help, "true|false", kinds=(BOOLEAN,))
    return parameter(default, help, "N", kinds=(INTEGER,))


_BOOLEANS: Mapping[str, bool] = types.MappingProxyType({"true": True, "false": False})


def _read_option(name: str, parameter: Parameter, value: Any) -> Any:
    """The value of an option, from Python or from a text."""
    if parameter.choices:
        if value not in parameter.choices:
            raise InputError(f"{name} must be {' or '.join(parameter.choices)}, not {value!r}.", code="bad_parameter")
        return value
    if parameter.kinds == (BOOLEAN,):
        known = _BOOLEANS.get(value.lower()) if isinstance(value, str) else value
        if not isinstance(known, bool):
            raise InputError(f"{name} must be true or false, not {value!r}.", code="bad_parameter")
        return known
    if parameter.kinds == (INTEGER,):
        return int(check_count(name, int(value) if isinstance(value, str) and value.isdecimal() else value))
    if TEXT not in parameter.kinds:
        raise InternalError(f"The option {name} has no reader.")
    return value
