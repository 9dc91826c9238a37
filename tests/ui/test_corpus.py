"""The files of the corpus in the window: what it shows is what the file holds, and what it loads, too."""

from __future__ import annotations

import html
import re
from pathlib import Path

import duckdb
import pytest
from files.loading import check_refusal, persons_of
from files.making import CASES, Case
from ui.client import window_on

WORDS: dict[object, str] = {" ": "blank", "": "none", True: "yes", False: "no"}  # of the form


def said(case: Case) -> dict[str, str]:
    """The columns and options of a case, as the form sends them."""
    values = {name: value if type(value) is int else WORDS.get(value, value) for name, value in case.options.items()}
    return {name: str(value) for name, value in (case.columns | values).items()}


OTHERWISE = "no column|holds objects|same name|is empty"  # in words, or of the columns that the window proposes
ALL = list(CASES.values())
PARTS = [
    pytest.param(ALL[::6], marks=pytest.mark.slow, id="some"),
    pytest.param([case for number, case in enumerate(ALL) if number % 6], marks=pytest.mark.nightly, id="others"),
]


@pytest.mark.parametrize("cases", PARTS)
def test_a_file_is_shown_and_loaded_or_refused(cases: list[Case], tmp_path: Path) -> None:
    for case in cases:
        folder = tmp_path / case.name
        folder.mkdir()
        target = folder / "loaded.duckdb"
        with window_on(str(case.path(folder))) as client:
            client.enter()
            client.get("/load")
            page = html.unescape(client.post("/load/reading", **said(case)))
            problems = " ".join(re.findall(r'<div class="problem" role="alert">(.*?)</div>', page, re.S))
            if not case.persons and case.refused is None:
                assert "has no rows" in problems
                continue
            if problems:
                check_refusal(problems, case.refused and f"{case.refused}|{OTHERWISE}", case.line)
                continue
            if case.persons is None:  # another reading is proposed, with its reason
                assert "<li>" in page[page.index("is read") : page.index("Is this right")], case.name
                continue
            assert f"{len(case.persons):,} person" in page, case.name
            client.post("/load/confirm", database=str(target), transactions_as="held", id_as="tid", item_as="item")
            assert "is loaded" in client.get("/load"), case.name
        with duckdb.connect(str(target), read_only=True) as connection:
            assert persons_of(connection, "held") == case.held, case.name
