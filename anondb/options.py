"""All options by name: the source of the flags, the keyword arguments and ``WITH (...)``, and of every policy."""

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from anondb.algorithms import METHODS
from anondb.errors import InputError
from anondb.models import ALGORITHM, BOOLEAN, GENERAL, INTEGER, NUMBER, OUTPUT, TEXT, Model, Parameter, parameters_in
from anondb.models.named import MODELS, all_parameters, make_model, nearest
from anondb.policy import SOURCES, Policy, Workload, accepted, percent, takers_of
from anondb.reading.options import OF_FILES, READING, Reading, names_text

WORKLOAD: Mapping[str, Parameter] = parameters_in(Workload)
# How a release is published, in the words of all interfaces.
PUBLICATION: Mapping[str, Parameter] = {
    "format": Parameter(
        "What to publish: a file of DuckDB (the default), or a folder of Parquet files.", "duckdb|parquet", panel=OUTPUT
    ),
    "mode": Parameter(
        "Permissions of the published file or files, such as 0644; by default only their owner can read them.",
        "MODE",
        panel=OUTPUT,
    ),
    "sign": Parameter("Sign what is published with the private key in this file (anondb keys new).", "KEY", panel=OUTPUT),
    "proof": Parameter("Also write SQL that checks the promise without anondb into this folder.", "DIR", panel=OUTPUT),
    "allow_overlap": Parameter(
        "Allow persons that an earlier publication contains; compare both releases.", kinds=(BOOLEAN,), panel=OUTPUT
    ),
    "analysts": Parameter("In PostgreSQL: roles that may read the published release.", "ROLE,...", panel=OUTPUT),
    "counters": Parameter("In PostgreSQL: roles that may only call count_bounds.", "ROLE,...", panel=OUTPUT),
    "same_database": Parameter(
        "In PostgreSQL: publish into the database of the raw data; says what shows then.", kinds=(BOOLEAN,), panel=OUTPUT
    ),
}
# Options of a view other than the sources, parameters and workload of a policy.
_OF_VIEWS: Mapping[str, Parameter] = {
    "model": Parameter("The promise."),
    "algorithm": Parameter(
        "The algorithm; by default the first that keeps the promise and has its inputs (anondb algorithms).",
        "NAME",
        panel=ALGORITHM,
    ),
    "workload": Parameter("Your own queries: (query_id, item).", "TABLE|FILE", panel=OUTPUT),
    "partition_by": Parameter("Make a release for each value of this column, of disjoint persons."),
    "publish": Parameter(
        "Also seal the release into this file or folder, or postgresql://HOST/DATABASE/SCHEMA.", "FILE|URL", panel=OUTPUT
    ),
    "time_limit": Parameter(
        "Seconds until the release must be made; nothing is kept after that.", "SECONDS", kinds=(NUMBER,), panel=OUTPUT
    ),
    **PUBLICATION,
}
WITH_NEGATION = ("item_supports", "on_engine", "header")  # switches with a flag that turns them off
PUBLISHING = ("partition_by", "time_limit", "publish", *PUBLICATION)
# What a file of policies says of the run, and of each release beside the options of a view.
RUN: Mapping[str, Parameter] = {
    "source": Parameter("A DuckDB file, postgresql://HOST/DATABASE, or a data file."),
    "threads": Parameter("Threads of the engine.", kinds=(INTEGER,), panel=GENERAL),
    "memory_limit": Parameter("Memory limit of the engine, such as 2GB.", "SIZE", panel=GENERAL),
    **{name: READING[name] for name in OF_FILES},
    "log_file": Parameter("Append a line of JSON for each step to this file; it has no data values.", "FILE", panel=OUTPUT),
}
# What a file of policies says of files that a run loads before, under the names of ``Database.load``.
LOAD: Mapping[str, Parameter] = {
    **{name: Parameter("A file to load.", "FILE") for name in ("transactions", "taxonomy", "records")},
    **{f"{name}_as": Parameter("Its table.", "TABLE") for name in ("transactions", "taxonomy", "records")},
    **{name: Parameter("A column of the files.", "COL") for name in ("id", "item")},
    **{name: Parameter("What it is called in the tables.", "COL") for name in ("id_as", "item_as")},
    **READING,
}
_OF_RELEASES: Mapping[str, Parameter] = {
    "transactions": Parameter("Table or view of the transactions."),
    "query": Parameter("One SELECT with the transactions, instead of a table."),
    "replace": Parameter("Replace what exists under this name.", kinds=(BOOLEAN,), panel=OUTPUT),
}
_ELSEWHERE = {
    "transactions": "Write the source into the query after AS.",
    "release": "The release has the name of the view.",
    "name": "The release has the name of the view.",
    "replace": "Use CREATE OR REPLACE.",
    "threads": "Set it on the connection.",
    "memory_limit": "Set it on the connection.",
}


def method_options() -> dict[str, Parameter]:
    """The options of all methods, by name."""
    return {name: s for method in METHODS.values() for name, s in method.option_parameters.items()}


def model_parameters() -> dict[str, Parameter]:
    """The parameters of all models, without the policy's options, by name; a shared parameter gets a joint description."""
    return {name: _joined(by_model) for name, by_model in all_parameters().items() if name not in SOURCES}


def _joined(by_model: Mapping[str, Parameter]) -> Parameter:
    """Join the descriptions of a parameter that several models have."""
    texts: dict[str, list[str]] = {}
    for model, parameter in by_model.items():
        texts.setdefault(parameter.help, []).append(model)
    first = next(iter(by_model.values()))
    if len(texts) == 1 and len(by_model) > 1:
        return first
    words = " ".join(f"For {' and '.join(models)}: {text[:1].lower()}{text[1:]}" for text, models in texts.items())
    kinds = tuple(dict.fromkeys(kind for parameter in by_model.values() for kind in parameter.kinds))
    return Parameter(words, first.metavar, kinds, first.read, first.choices, first.panel)


def for_whom(name: str) -> str:
    """Text that names the models or algorithms that take an option; empty if all take it."""
    takers = takers_of(name)
    if not takers or len(takers) == len(METHODS):
        return ""
    complete = [
        m
        for m in MODELS
        if (methods := [a for a in METHODS.values() if m in a.models]) and all(a.name in takers for a in methods)
    ]
    others = [name for name in takers if not set(METHODS[name].models) <= set(complete)]
    return f"For {', '.join([*complete, *others])}: "


def policy_of(
    transactions: Any,
    options: Mapping[str, Any],
    *,
    model: Model | None = None,
    name: str | None = None,
    replace: bool = False,
) -> Policy:
    """Make a policy, with its model, workload and method, from options by name: ``model`` is the name of a model unless the
    model itself is passed (its parameters are then no options), ``workload`` the owner's queries. Raises InputError:
    ``unknown_option`` with the nearest name; see ``Policy``."""
    parameters = {} if model is not None else model_parameters()
    of_promise = () if model is not None else ("model", *parameters)
    available = {*SOURCES, *READING, *WORKLOAD, *method_options(), *of_promise, "algorithm", "workload"}
    for option in options:
        if option not in available:
            raise InputError(f"There is no option {option!r}.{nearest(option, available)}", code="unknown_option")
    if model is None:
        model = make_model(str(options.get("model", "km")), **_selected(options, parameters))
    return Policy(
        transactions,
        model=model,
        name=name,
        workload=Workload(**_selected(options, WORKLOAD), table=options.get("workload")),
        replace=replace,
        algorithm=options.get("algorithm"),
        options=_chosen(options),
        reading=Reading(**{n: v for n, v in _selected(options, READING).items() if v is not None}),
        **_selected(options, SOURCES),
    )


def _chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a method that differ from "not set": neither None nor, for a switch, its default."""
    chosen = _selected(options, [name for name in method_options() if name not in SOURCES])
    defaults = {f.name: f.default for method in METHODS.values() for f in fields(method.options)}
    return {n: v for n, v in chosen.items() if v is not None and not (isinstance(v, bool) and v is defaults[n])}


def _selected(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def view_options() -> dict[str, Parameter]:
    """The options of ``CREATE ANONYMIZED VIEW``, by name."""
    return {**model_parameters(), **method_options(), **WORKLOAD, **READING, **SOURCES, **_OF_VIEWS}


def release_options() -> dict[str, Parameter]:
    """The options of a release in a file of policies, by name."""
    return {**_OF_RELEASES, **view_options()}


def check_option(name: str, value: Any, available: Mapping[str, Parameter] | None = None) -> Any:
    """Check that an option, by default of ``CREATE ANONYMIZED VIEW``, exists and that its value has the right type; return
    the value. Raises InputError: ``unknown_option`` with the nearest names, or ``bad_parameter``."""
    available = view_options() if available is None else available
    if name not in available:
        if name in _ELSEWHERE:
            raise InputError(f"{name!r} is not an option of a view. {_ELSEWHERE[name]}", code="unknown_option")
        close = difflib.get_close_matches(name, sorted(available), n=3)
        offer = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"Options: {', '.join(sorted(available))}."
        raise InputError(f"There is no option {name!r}. {offer}", code="unknown_option")
    kinds = available[name].kinds
    fitting = {bool: {BOOLEAN}, int: {INTEGER, NUMBER}, float: {NUMBER}, str: {TEXT}}.get(type(value), set())
    if not fitting & set(kinds):
        shown = repr(value) if isinstance(value, str) else str(value).lower() if fitting else type(value).__name__
        raise InputError(f"{name} must be {' or '.join(kinds)}, not {shown}.", code="bad_parameter")
    if name == "max_suppression":
        percent(value)
    elif (read := available[name].read) is not None:
        read(value)
    return value


def view_policy(
    name: str, transactions: Any, options: Mapping[str, str | int | float | bool], *, replace: bool = False
) -> Policy:
    """Make the policy of a ``CREATE ANONYMIZED VIEW``, and check its options one by one. The options of ``PUBLISHING`` are
    not part of a policy; the caller handles them."""
    for option, value in options.items():
        check_option(option, value)
    of_policy = {n: v for n, v in options.items() if n not in PUBLISHING}
    return policy_of(transactions, of_policy, name=name, replace=replace)


def flags_of(options: Mapping[str, Any]) -> list[str]:
    """The words of a command that say the same as options by name; those of an algorithm alone become ``--option``."""
    words: list[str] = []
    own = {*method_options()} - {*SOURCES, *WORKLOAD, *READING}
    for name, value in options.items():
        dashed = "--" + name.replace("_", "-")
        if name in own:
            words += ["--option", f"{name}={_as_text(value)}"]
        elif isinstance(value, bool):
            words += [f"--{'' if value else 'no-'}{dashed[2:]}"] if value or name in WITH_NEGATION else []
        elif name in SOURCES and SOURCES[name].repeatable:
            words += [word for finding in accepted(value) for word in (dashed, finding)]
        elif value is not None:
            words += [dashed, _as_text(value)]
    return words


def toml_of(options: Mapping[str, Any]) -> str:
    """Options by name as lines of a file of policies."""
    return "".join(f"{name} = {_toml(value)}\n" for name, value in options.items() if value is not None)


def toml_text(text: str) -> str:
    """A text, or the name of a table, in a file of policies."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return str(value) if is_number else toml_text(_as_text(value))


def _as_text(value: Any) -> str:
    """The value of an option as flags and files name it: the parts of a list with commas between."""
    if isinstance(value, list | tuple):
        return names_text(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
