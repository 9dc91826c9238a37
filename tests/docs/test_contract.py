"""The contract's tables against the program: commands, options, models and algorithms, objects of a sealed file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer
from each import each

import anondb
from anondb.algorithms import METHODS
from anondb.cli import program
from anondb.errors import AnondbError
from anondb.models.named import MODELS, parameters_of
from anondb.release.objects import ANATOMY, GLOBAL, MANIFEST_KEYS, with_item_supports

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "contract.md").read_text("utf-8")
COMMANDS: Any = typer.main.get_command(program())


def table(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    text = PAGE.split(f"# {heading}\n", 1)[1]
    rows = re.search(r"(?:^\|.*\n)+", text, re.M)
    assert rows
    return [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in rows[0].splitlines()[2:]]


def flags(command: str) -> set[str]:
    params = COMMANDS.commands[command].params
    return {o for p in params for o in (*p.opts, *p.secondary_opts) if o.startswith("--")} - {"--help"}


def steering() -> set[str]:
    """The names that --option takes."""
    rows = PAGE.split("| option | of | values |", 1)[1].split("\n\n", 1)[0]
    return set(re.findall(r"^\| `(\w+)`", rows, re.M))


def test_every_command_is_listed() -> None:
    listed = {name for row in table("Command line") for name in re.findall(r"`anondb (\w+)", row[0])}
    assert listed == set(COMMANDS.commands)


def test_the_options_of_commands_exist() -> None:
    for row in table("Command line"):
        name = re.findall(r"`anondb (\w+)", row[0])[0]
        assert set(re.findall(r"--[a-z-]+", row[0])) <= flags(name), name


def test_the_options_of_anonymize() -> None:
    listed = {flag for row in table("Options of anonymize") for flag in re.findall(r"--[a-z][a-z-]*", row[1])}
    assert flags("anonymize") == listed


def test_what_steers_an_algorithm() -> None:
    assert steering() == {name for method in METHODS.values() for name in method.option_parameters}
    for name in steering():
        row = next(r for r in PAGE.splitlines() if r.startswith(f"| `{name}` |"))
        stated = set(re.findall(r"`([\w*]+)`", row.split("|")[2]))
        takers = {a for a, method in METHODS.items() if name in method.option_parameters}
        assert takers == {a for a in METHODS for s in stated if re.fullmatch(s.replace("*", r"\w+"), a)}, name


@each("row", table("Models and algorithms"))
def test_models_and_their_algorithms(row: list[str]) -> None:
    model, promise, _, algorithms = row
    name, written = model.strip("`"), re.match(r"`(\w+)\(([\w, ]+)\)`", promise)
    assert written and getattr(anondb, written[1]) is MODELS[name]
    assert set(written[2].split(", ")) <= set(parameters_of(name))
    same = algorithms if "`kkm`" not in algorithms else next(r[3] for r in table("Models and algorithms") if r[0] == "`kkm`")
    assert set(re.findall(r"`(\w+)`", same)) == {a for a, method in METHODS.items() if name in method.models}


def test_all_models_are_listed() -> None:
    assert [row[0].strip("`") for row in table("Models and algorithms")] and {
        row[0].strip("`") for row in table("Models and algorithms")
    } == set(MODELS)


def test_the_objects_of_a_sealed_file() -> None:
    rows = {re.findall(r"`(\w+)", row[0])[0]: row for row in table("The sealed file")}
    kinds = (GLOBAL, with_item_supports(GLOBAL), ANATOMY)
    objects = {name for kind in kinds for group in (kind.tables, kind.views, kind.macros) for name in group}
    assert set(rows) == objects | {"records", "released_values"}
    for kind in kinds:
        for name, columns in {**kind.tables, **kind.views}.items():
            if name != "item_counts" or kind is not ANATOMY:
                assert set(columns) <= set(re.findall(r"`(\w+)`", rows[name][1])), name
        assert all((name in rows[name][0]) for name in kind.views)
    assert set(re.findall(r"`(\w+)`", rows["manifest"][1])) >= MANIFEST_KEYS | {"item_supports"}


def test_exit_codes_and_errors() -> None:
    codes = {int(c) for c in re.findall(r"(?:^|· )(\d+) ", PAGE.split("### Exit codes\n", 1)[1].split("###", 1)[0], re.M)}
    kinds = [k for k in vars(anondb.errors).values() if isinstance(k, type) and issubclass(k, AnondbError)]
    assert {k.exit_code for k in kinds} <= codes and codes == {0, 2, 3, 4, 5, 130}
    named = PAGE.split("* Errors are ", 1)[1].split("\n\n", 1)[0]
    assert all(f"`{k.__name__}`" in named for k in kinds if k is not AnondbError)
