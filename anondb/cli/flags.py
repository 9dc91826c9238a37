"""Derive flags from the parameters of models, policies and workloads."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any

import typer

from anondb.models import BOOLEAN, INTEGER, NUMBER, Parameter
from anondb.options import RUN, WITH_NEGATION, for_whom, model_parameters, release_options
from anondb.policy import SOURCES, Policy, Workload
from anondb.reading.options import Reading

_DEFAULTS: Mapping[str, Any] = {
    f.name: f.default for kind in (Policy, Workload, Reading) for f in fields(kind) if f.default is not MISSING
}
_PARAMETERS: Mapping[str, Parameter] = {**RUN, **release_options()}
MODEL_PARAMETERS = tuple(model_parameters())
LIMITS = ("threads", "memory_limit")
_TYPES: Mapping[tuple[str, ...], type] = {(BOOLEAN,): bool, (INTEGER,): int, (NUMBER,): float}


def with_flags(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with the flags of these parameters and options; a value arrives in the argument of the same name,
    else in ``**flags``."""

    def derive(command: Callable[..., None]) -> Callable[..., None]:
        written = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [p for p in written if p.kind is not p.VAR_KEYWORD and p.name not in names]
        parameters += [_flag(name, _PARAMETERS[name]) for name in names]
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in parameters]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return command

    return derive


def _flag(name: str, parameter: Parameter) -> inspect.Parameter:
    default = _DEFAULTS.get(name)
    whom = for_whom(name)
    words = whom + parameter.help[:1].lower() + parameter.help[1:] if whom else parameter.help
    dashed = "--" + name.replace("_", "-")
    if name in WITH_NEGATION:
        dashed += "/--no-" + name.replace("_", "-")
    kind: Any = _TYPES.get(parameter.kinds, str)
    if kind is bool and name not in WITH_NEGATION:
        default = False
    if parameter.repeatable:
        kind, default = list[str], None
    if default is None:
        kind = kind | None
    option = typer.Option(dashed, help=words, metavar=parameter.metavar, rich_help_panel=parameter.panel)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def flag_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parsed values of the flags that the user set: not None, and False only for flags that can be turned off."""
    off = {name for name, value in values.items() if value is False and name not in WITH_NEGATION}
    present = {name: value for name, value in values.items() if value is not None and name not in off}
    read = {name: s.read for name, s in SOURCES.items() if s.read is not None}
    return {n: read[n](v) if n in read and isinstance(v, str) else v for n, v in present.items()}


def taken(values: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Remove the values of some options from ``values``, and return them."""
    return {name: values.pop(name) for name in names if name in values}


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Parse ``--option NAME=VALUE`` texts; a name alone means true. Raises typer.BadParameter: a text has no name, or a name
    occurs twice."""
    read: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not name or name in read:
            raise typer.BadParameter(f"write NAME=VALUE, each name once, not {text[:40]!r}")
        read[name] = value.strip() if equals else "true"
    return read
