"""Errors name an option in the words of the interface in use: flags, keyword arguments, options of a statement."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

import anondb
from anondb.cli import program
from anondb.data.preflight import confirmed
from anondb.errors import SWITCHES, InputError, Interface, speaking
from anondb.reading.account import Finding

PACKAGE = Path(anondb.__file__).parent
COMMANDS: Any = typer.main.get_command(program())


def commands(group: Any) -> list[Any]:
    return [c for one in group.commands.values() for c in (commands(one) if hasattr(one, "commands") else [one])]


FLAGS = {o: p for c in commands(COMMANDS) for p in c.params for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}


@pytest.mark.parametrize(
    ("interface", "words"),
    [
        ("command line", "No column 'a--b'. Name it with --id, or --taxonomy TABLE|FILE, and --replace it."),
        ("python", "No column 'a--b'. Name it with id=, or taxonomy=TABLE|FILE, and replace=True it."),
        (
            "sql",
            "No column 'a--b'. Name it with the option id, or the option taxonomy TABLE|FILE, and CREATE OR REPLACE it.",
        ),
    ],
)
def test_words_of_the_interface(interface: Interface, words: str) -> None:
    hint = "Name it with --id, or --taxonomy TABLE|FILE, and --replace it."
    with speaking(interface):
        error = InputError("No column 'a--b'.", hint=hint)
    assert str(error) == words and words.endswith(str(error.hint))


def test_findings_are_confirmed_in_the_words_of_the_interface() -> None:
    found = [Finding("left-out", "Columns are left out."), Finding("rare-items", "Items are rare.")]
    for interface, words in (("command line", "--accept left-out --accept rare-items"), ("toml", "'left-out,rare-items'")):
        with speaking(interface), pytest.raises(InputError, match=words):  # type: ignore[arg-type]
            confirmed(found, (), None)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1 rows have no id.", "1 row has no id."),
        ("1 rows of 'the 1 rows that are.csv' have no id.", "1 row of 'the 1 rows that are.csv' has no id."),
        ("File 'my 1 rows.csv' has 11 rows, and 1 persons.", "File 'my 1 rows.csv' has 11 rows, and 1 person."),
        ("1 rows of a person's file differ. 2 rows are empty.", "1 row of a person's file differs. 2 rows are empty."),
    ],
)
def test_one_is_no_plural_but_in_names(written: str, shown: str) -> None:
    assert str(InputError(written)) == shown


def test_python_is_the_default_and_comes_back() -> None:
    with speaking("command line"):
        assert str(InputError("Raise --max-suppression.")) == "Raise --max-suppression."
    assert str(InputError("Raise --max-suppression, or say --max-suppression 100.")) == (
        "Raise max_suppression, or say max_suppression=100."
    )


def test_flags_in_messages_exist_and_switches_are_known() -> None:
    named = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        if (
            path.parent.name in ("cli", "compare", "pages", "report") or path.name == "proof_pack.py"
        ):  # CSS, and a page of words
            continue
        named |= set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", path.read_text("utf-8")))
    assert named > {"--replace", "--taxonomy"} and named <= {
        *FLAGS,
        "--help",
        "--fit",
        "--source",
    }  # of a benchmark, and of bq
    shown = {"--json", "--show-sql"}  # in texts of the command line alone
    assert {n for n in named & FLAGS.keys() if FLAGS[n].is_flag} <= {
        *(f"--{no}{s}" for s in SWITCHES for no in ("", "no-")),
        *shown,
    }
    assert all(FLAGS[f"--{s}"].is_flag for s in SWITCHES)


def test_an_error_of_python_has_words_of_python() -> None:
    import pandas as pd

    frame = pd.DataFrame({"customer": [1, 2], "item": ["a", "b"]})
    with anondb.connect() as db, pytest.raises(InputError, match=r"Name the column with id=\.$"):
        db.anonymize(frame)
