"""The reference of the site, made from the program: commands, options, models, algorithms, Python, errors, sealed files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import typer

import anondb
from anondb import errors
from anondb.algorithms import METHODS
from anondb.cli import program
from anondb.models import BOOLEAN
from anondb.models.named import all_parameters, parameters_of
from anondb.options import for_whom, view_options
from anondb.promises import PROMISES
from anondb.release.definitions import OBJECT_COMMENTS, column_comment
from anondb.release.objects import ANATOMY, GLOBAL, with_item_supports

Row = Sequence[str]
WITH_MEMBERS = ("Database", "Release", "Session", "Result")  # made by functions; the models are made by their users


def pages() -> dict[str, str]:
    """The text of each page of the reference by its name."""
    made = {
        "commands": commands,
        "views": views,
        "models": models,
        "algorithms": algorithms,
        "python": python,
        "errors": exit_codes,
        "sealed-file": sealed_file,
    }
    return {f"reference/{name}.md": "\n\n".join(page()) + "\n" for name, page in made.items()}


def table(head: Row, rows: Iterable[Row]) -> str:
    """A table in Markdown; bars and line ends in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(str(cell).split()).replace("|", "&#124;") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def code(text: str) -> str:
    """A text as code in a cell or a sentence."""
    return f"<code>{text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')}</code>"


def commands() -> Iterator[str]:
    """Each command with its arguments, options and examples."""
    yield "# Commands"
    yield "What each command takes. `anondb COMMAND --help` prints the same; all have the same [exit codes](errors.md)."
    yield from _commands(typer.main.get_command(program()), "anondb")


def _commands(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")
            continue
        context = command.context_class(command, info_name=f"{path} {name}")
        params = [p for p in command.params if p.name != "help"]
        yield f"## {path} {name}"
        yield inspect.cleandoc(command.help or "")
        usage = " ".join(command.collect_usage_pieces(context))
        yield f"```text\n{path} {name} {usage}\n```"
        arguments = [(code(p.make_metavar(ctx=context)), p.help or "") for p in params if p.param_type_name == "argument"]
        options = [_option(p, context) for p in params if p.param_type_name == "option"]
        if arguments:
            yield table(("argument", "meaning"), arguments)
        if options:
            yield table(("option", "meaning", "default"), sorted(options, key=lambda row: row[0]))
        examples = (command.epilog or "").partition("Examples:\n")[2]
        if examples:
            yield f"Examples:\n\n```text\n{inspect.cleandoc(examples)}\n```"


def _option(param: Any, context: Any) -> Row:
    value = "" if param.is_flag else f" {param.make_metavar(ctx=context)}"
    names = ", ".join(o for o in (*param.opts, *param.secondary_opts) if o.startswith("--"))
    default = "" if param.default in (None, False, ()) or callable(param.default) else str(param.default)
    return code(names + value), param.help or "", default


def views() -> Iterator[str]:
    """The options of WITH (...)."""
    yield "# Options of anonymized views"
    yield (
        "What `CREATE ANONYMIZED VIEW name AS query WITH (...)` takes ([how to](../views.md)). The same names are keyword "
        "arguments of `Database.anonymize` in Python; on the command line they are flags with `-` for `_`, and those of a "
        "single algorithm are `--option NAME=VALUE`."
    )
    rows = []
    for name, parameter in sorted(view_options().items()):
        of_models = ", ".join(all_parameters().get(name, ()))
        whom = for_whom(name).removesuffix(": ").removeprefix("For ") or of_models or "all"
        choices = parameter.choices or ((parameter.metavar or "").split("|") if "|" in (parameter.metavar or "") else ())
        value = ", ".join(map(code, choices)) if choices and BOOLEAN not in parameter.kinds else " or ".join(parameter.kinds)
        rows.append((code(name), value, parameter.help, whom))
    yield table(("option", "value", "meaning", "for"), rows)


def models() -> Iterator[str]:
    """Each model with its parameters and algorithms."""
    yield "# Models"
    yield "What each promise says, its parameters, and the algorithms that keep it. [Choosing](../choosing.md) helps."
    for name, spec in PROMISES.items():
        yield f"## {name}"
        yield f"In Python {code('anondb.' + spec.model.__name__)}."
        yield _docstring(spec.model)
        defaults = {f.name: f.default for f in fields(spec.model)}  # type: ignore[arg-type]
        rows = [(code(n), p.help, str(defaults[n])) for n, p in parameters_of(name).items()]
        yield table(("parameter", "meaning", "default"), rows)
        fitting = [method for method in METHODS.values() if name in method.models]
        yield "Algorithms: " + ", ".join(f"[{m.name}](algorithms.md#{m.name})" for m in fitting) + "."
        yield _inputs(spec)


def _inputs(of: Any) -> str:
    """What a model or an algorithm needs and takes beside the transactions."""
    flags = {name: [f"`--{n.replace('_', '-')}`" for n in getattr(of, name)] for name in ("needs", "takes")}
    words = [f"{name.capitalize()} {', '.join(listed)}." for name, listed in flags.items() if listed]
    return " ".join(words) or "Needs and takes nothing but the transactions."


def algorithms() -> Iterator[str]:
    """Each algorithm with its inputs and options."""
    yield "# Algorithms"
    yield (
        "What each algorithm needs and takes, in order of preference: without `--algorithm`, the first one runs that keeps "
        "the promise and has its inputs. [The pages](../algorithms/README.md) have definitions and examples."
    )
    for name, method in METHODS.items():
        yield f"## {name}"
        page = "rum_tum_bound" if set(method.models) & {"kkm", "klm"} else name
        supports = " Publishes item supports unless `--no-item-supports`." if method.item_supports else ""
        yield f"{method.paper}. [Definition](../algorithms/{page}.md). For {', '.join(method.models)}.{supports}"
        yield _inputs(method)
        options, defaults = method.option_parameters, method.options()
        if options:
            rows = [(code(f"{n}={p.metavar}"), p.help, str(getattr(defaults, n)).lower()) for n, p in options.items()]
            yield table(("--option", "meaning", "default"), rows)


def python() -> Iterator[str]:
    """The public names of the package with their signatures and docstrings."""
    yield "# Python"
    yield "The public names of `anondb`. [How to use it from Python](../python.md); [sessions](../session.md) for analysts."
    for name in anondb.__all__:
        thing = getattr(anondb, name)
        if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        yield f"## {name}"
        if name not in WITH_MEMBERS:
            yield f"```text\n{name}{_signature(thing)}\n```"
        yield _docstring(thing)
        if name in WITH_MEMBERS:
            yield from _members(name, thing)


def _members(owner: str, kind: type) -> Iterator[str]:
    own = [base for base in reversed(kind.__mro__) if base.__module__.startswith("anondb")]
    for name, member in {n: m for base in own for n, m in vars(base).items()}.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"### {owner}.{name}"
            yield _docstring(member.fget)
        elif inspect.isfunction(member):
            yield f"### {owner}.{name}"
            yield f"```text\n{name}{_signature(member)}\n```"
            yield _docstring(member)


def _signature(thing: Any) -> str:
    text = str(inspect.signature(thing)).replace("'", "")
    return re.sub(r"(?:anondb|pathlib|collections\.abc|typing|pandas|duckdb)(?:\.\w+)*\.(?=\w)", "", text)


def _docstring(thing: Any) -> str:
    """A docstring: its sections as lists, of which the names are code."""
    lines: list[str] = []
    for line in inspect.cleandoc(thing.__doc__ or "").splitlines():
        if re.fullmatch(r"(Args|Raises|Returns|Attributes):", line):
            lines += ["", f"**{line[:-1]}**", ""]
        elif item := re.match(r"    (\*{0,2}[\w, ]+): (.*)", line):
            lines.append(f"* `{item[1]}`: {item[2]}")
        else:
            lines.append(line.strip() if line.startswith(" ") else line)
    text = re.sub(r"``(.+?)``", r"`\1`", "\n".join(lines)).replace("<=", "≤")
    return re.sub(r"docs/([\w/]+\.md(?:#[\w-]+)?)", r"[definition](../\1)", text)


def exit_codes() -> Iterator[str]:
    """Exit codes and the errors behind them."""
    yield "# Exit codes and errors"
    yield (
        "Every error is typed, names tables, columns, parameters and counts, and never a data value. With `--json`, exactly "
        'one JSON object goes to stdout, also for errors: `{"error": {"code", "message"}}`.'
    )
    kinds = [k for k in vars(errors).values() if inspect.isclass(k) and issubclass(k, errors.AnondbError)]
    rows = [("0", "", "Done.")]
    rows += [(str(k.exit_code), code(k.__name__), _docstring(k)) for k in kinds if k is not errors.AnondbError]
    rows.append(
        (
            "130",
            "",
            "Interrupted. Unfinished work is undone; a release that was already committed stays, complete and verified.",
        )
    )
    yield table(("exit code", "in Python", "meaning"), sorted(rows, key=lambda row: int(row[0])))


def sealed_file() -> Iterator[str]:
    """The tables, views and macros of a sealed file with their columns."""
    yield "# Objects of a sealed file"
    yield (
        "The tables, views and macros that a release consists of, with their comments. "
        "[The contract](../contract.md#the-sealed-file) has the rules."
    )
    kinds = (with_item_supports(GLOBAL), ANATOMY)
    for kind, objects in (("tables", "tables"), ("views", "views")):
        yield f"## {kind.capitalize()}"
        listed = {name: columns for k in kinds for name, columns in getattr(k, objects).items()}
        for name, columns in listed.items():
            yield f"### {name}"
            yield f"{OBJECT_COMMENTS[name]}."
            rows = [(code(column), of, column_comment(name, column)) for column, of in columns.items()]
            yield table(("column", "type", "meaning"), rows)
    yield "## Macros"
    macros = {name: parameters for k in kinds for name, parameters in k.macros.items()}
    rows = [(code(f"{name}({', '.join(parameters)})"), OBJECT_COMMENTS[name]) for name, parameters in macros.items()]
    yield table(("macro", "meaning"), rows)
    yield "A release with attributes of people also has:"
    of_records = ("records", "released_values")
    yield table(("table", "meaning"), [(code(name), OBJECT_COMMENTS[name]) for name in of_records])
