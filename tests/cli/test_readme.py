"""The README's commands, Python and SQL, run as a user would run them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from realdata import DATA, needs

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
COMMANDS = [line for kind, text in BLOCKS if not kind for line in text.splitlines() if line.startswith("anondb ")]
LATER = next(n for n, command in enumerate(COMMANDS) if "--release autumn" in command)  # what make check runs


def run(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    words[:1] = [sys.executable, "-m", "anondb"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(words, cwd=place, env=env, capture_output=True, text=True, check=False)


Tour = tuple[Path, dict[str, subprocess.CompletedProcess[str]]]


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    """The first commands of the tour, in order, in a directory of its own."""
    place = tmp_path_factory.mktemp("tour")
    done = {"demo": run("anondb demo anondb-demo", place)}
    for name, text in ((re.match(r"-- (\w+\.sql)\n", text), text) for kind, text in BLOCKS if kind == "sql"):
        if name:
            (place / name[1]).write_text(text, encoding="utf-8")
    for name in ("bms2.dat", "bms2.f5.tree"):
        if (DATA / name).exists():
            shutil.copy(DATA / name, place / name)
    return place, done | {command: run(command, place) for command in COMMANDS[:LATER]}


@pytest.fixture(scope="module")
def whole_tour(tour: Tour) -> Tour:
    """The whole tour; commands on BMS2 only where that is there."""
    place, done = tour
    later = [c for c in COMMANDS[LATER:] if "bms2" not in c or (place / "bms2.dat").exists()]
    return place, done | {command: run(command, place) for command in later}


def check_ends(done: dict[str, subprocess.CompletedProcess[str]]) -> None:
    for command, result in done.items():
        expected = 4 if "--transactions sales --k 5" in command else 0
        assert result.returncode == expected, (command, result.stderr)
        assert result.stdout or expected


def test_commands_end_as_the_readme_says(tour: Tour) -> None:
    _, done = tour
    assert len(done) >= 2
    check_ends(done)


@pytest.mark.slow
def test_later_commands_end_as_the_readme_says(whole_tour: Tour) -> None:
    _, done = whole_tour
    assert len(done) >= 20
    check_ends(done)


def test_printed_output_is_that_of_the_readme(tour: Tour) -> None:
    """Figures that do not depend on chance or time stand in the README as they are printed."""
    _, done = tour
    shown = {" ".join(line.split()) for line in README.splitlines()}
    for line in done["demo"].stdout.splitlines():
        words = " ".join(line.split())
        if words and not words.startswith(
            ("seconds", "accuracy", "published", "sha256", "content:", "The shop", "Both are", "Open a", "FROM")
        ):
            assert words in shown, words
    checked = next(result for command, result in done.items() if "--witnesses" in command)
    assert {" ".join(line.split()) for line in checked.stdout.splitlines()} <= shown


@pytest.mark.slow
def test_sql_of_the_analyst(whole_tour: Tour) -> None:
    place, _ = whole_tour
    asked = [(re.match(r"-- duckdb (\S+)\n", text), text) for kind, text in BLOCKS if kind == "sql"]
    files = [(header[1], text) for header, text in asked if header]
    assert len(files) > 1
    for file, text in files:
        with duckdb.connect(str(place / file), read_only=True) as analyst:
            for statement in duckdb.extract_statements(text):
                assert analyst.execute(statement).fetchall(), statement.query


@pytest.mark.slow
def test_python_of_the_tour(whole_tour: Tour) -> None:
    place, _ = whole_tour
    text = next(text for kind, text in BLOCKS if kind == "python")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-c", text], cwd=place, env=env, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("True 26839/58")
    assert (place / "anondb-demo" / "winter.duckdb").exists()


@pytest.mark.slow
@needs("bms2.dat", "bms2.f5.tree")
def test_bms2_from_the_file_to_bounds_that_hold(
    whole_tour: Tour,
) -> None:
    place, _ = whole_tour
    truth = sum({"55267", "55283"} <= set(line.split()) for line in (DATA / "bms2.dat").read_text().splitlines())
    with duckdb.connect(str(place / "bms2.duckdb"), read_only=True) as analyst:
        lower, estimate, upper = analyst.execute("SELECT * FROM count_bounds(['55267', '55283'])").fetchall()[0]
    assert lower <= truth <= upper and lower <= estimate <= upper and upper < 77512


@pytest.mark.slow
def test_all_of_it_in_sql(whole_tour: Tour) -> None:
    """Made, refreshed, published, asked, measured, explained and checked by SQL statements and their files alone."""
    place, done = whole_tour
    said = {re.sub(r"[^a-z].*", "", c[7:]) + " " + c.split()[-1]: r.stdout for c, r in done.items()}
    first, second, third = [line for line in said["run policy.sql"].splitlines() if line.startswith("anonymized view")]
    assert "3,000 transactions" in first and "nothing was done" in second
    assert "the data have changed; the old recoding would" in third and "are published otherwise" in third
    assert "fresh" in said["run policy.sql"] and "strictly cheaper" in said["explain saffron"]
    with duckdb.connect(str(place / "anondb-demo" / "shop.duckdb"), read_only=True) as owner:
        (truth,) = owner.execute("SELECT count(DISTINCT tid) FROM orders WHERE item = 'milk'").fetchall()[0]
        recorded = owner.execute("FROM anondb.accuracy WHERE workload = 'policy: log log.sql'").fetchall()
    (asked,) = [r.stdout for c, r in done.items() if c.startswith("anondb query anondb-demo/policy.duckdb")]
    lower, estimate, upper = (float(word) for word in asked.splitlines()[1].split())
    assert lower <= truth <= upper and lower <= estimate <= upper and len(recorded) > 2
    (checked,) = [json.loads(r.stdout) for c, r in done.items() if "policy --against-source" in c]
    assert checked["holds"] is True and checked["status"] == "fresh"


@pytest.mark.slow
@needs("bms2.dat", "bms2.f5.tree")
def test_all_of_it_in_sql_on_bms2(whole_tour: Tour) -> None:
    place, done = whole_tour
    (made,) = [r.stdout for c, r in done.items() if c.endswith(" bms2.sql")]
    assert "77,512 transactions" in made and "the data have changed" in made and "fresh" in made
    with duckdb.connect(str(place / "anondb-demo" / "shop.duckdb"), read_only=True) as owner:
        truth = owner.execute("SELECT count(*) FROM bms2 WHERE list_has_all(item, ['55267', '55283'])").fetchall()[0][0]
        recorded = owner.execute(
            "SELECT count(*), count(*) FILTER (truth BETWEEN lower_bound AND upper_bound) FROM anondb.accuracy "
            "WHERE workload = 'bms2_sessions: log bms2_log.sql'"
        ).fetchall()
        assert recorded == [(2, 2)]
    (asked,) = [r.stdout for c, r in done.items() if c.startswith("anondb query bms2_sessions")]
    lower, _, upper = (float(word) for word in asked.splitlines()[1].split())
    assert lower <= truth <= upper < 79062
