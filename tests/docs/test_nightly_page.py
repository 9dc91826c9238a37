"""docs/nightly.md and examples/nightly: the policies, and the commands of its schedules, as they stand."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import stat
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from cli.shop import baskets, in_process

import anondb
from anondb.demo import make_shop

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "nightly"
PAGE = (ROOT / "docs" / "nightly.md").read_text("utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's shop."""
    place = tmp_path_factory.mktemp("nightly")
    with anondb.connect(place / "shop.duckdb") as db:
        make_shop(db)
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it, with the policies and with ``anondb`` on a path of programs."""
    shutil.copytree(made, tmp_path / "shop")
    for file in ("anondb.toml", "policy.sql"):
        shutil.copy(EXAMPLES / file, tmp_path / "shop")
    program = tmp_path / "bin" / "anondb"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m anondb "$@"\n')
    program.chmod(0o755)
    return tmp_path / "shop"


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    programs = f"{folder.parent / 'bin'}:{os.environ['PATH']}"
    place = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["sh", "-c", command], cwd=folder, env=place, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_policy_of_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (policy,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)
    (folder / "anondb.toml").write_text(policy + "queries = 5\n")
    monkeypatch.chdir(folder)
    run = in_process(monkeypatch, capsys)
    commands = [b.split()[1:] for b in re.findall(r"^```\n(anondb .*)\n```$", PAGE, re.M)]
    assert [c[0] for c in commands] == ["run", "anonymize"]
    assert run(*commands[0]).out == "anonymized view weekly: 3,000 transactions, 17 released items\n"
    assert stat.S_IMODE((folder / "weekly.duckdb").stat().st_mode) == 0o640
    assert run(*commands[0]).out == "anonymized view weekly: nothing has changed, and nothing was done\n"


@pytest.mark.slow
def test_both_files_make_the_same_releases(folder: Path) -> None:
    found = []
    for command in ("anondb run anondb.toml", "anondb run shop.duckdb policy.sql"):
        done = shell(folder, command)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE((folder / "weekly.duckdb").stat().st_mode) == 0o640
        found.append([baskets(folder / "weekly.duckdb"), baskets(folder / "shop.duckdb", "release_adults")])
    assert found[0] == found[1]


def check_the_log(file: Path) -> None:
    """The lines are those of the page."""
    (line,) = re.findall(r"^```json\n(.*)\n```$", PAGE, re.M)
    shown = json.loads(line)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    (load,) = [one for one in lines if one.get("step") == "load" and one["release"] == "weekly"]
    assert shown.keys() == load.keys() and shown["counts"] == load["counts"]
    table = {row.split("|")[1]: row.split("|")[2] for row in PAGE.splitlines() if row.startswith("| `")}
    for one in lines:
        stated = next(text for events, text in table.items() if f"`{one['event']}`" in events)
        assert set(one) <= {"time", "event", *re.findall(r"`(\w+)`", stated)}


@pytest.mark.slow
def test_cron(folder: Path) -> None:
    (line,) = [one for one in (EXAMPLES / "crontab").read_text().splitlines() if "anondb" in one and one[0].isdigit()]
    schedule, command = re.fullmatch(r"((?:\S+ ){5})(.*)", line).groups()  # type: ignore[union-attr]
    assert schedule == "15 2 * * * " and "%" not in command  # a percent sign would end the command
    done = shell(folder, command.replace("/srv/shop", str(folder)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    check_the_log(folder / "nightly.jsonl")
    (folder / "shop.duckdb").unlink()
    failed = shell(folder, command.replace("/srv/shop", str(folder)))
    assert failed.returncode == 2 and failed.stderr.startswith("anondb: ")


@pytest.mark.slow
def test_github_actions(folder: Path) -> None:
    text = (EXAMPLES / "github-actions.yml").read_text()
    commands = re.findall(r"^ +- run: (.*)$", text, re.M)
    assert len(commands) == 3 and 'cron: "15 2 * * *"' in text
    for command in commands:
        assert shell(folder, command).returncode == 0
    assert (folder / re.findall(r"path: (\S+)", text)[0]).exists()


@pytest.mark.slow
def test_airflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The DAG with stand-ins for the two names that it imports: its tasks run in order, with its defaults."""
    order: list[Any] = []

    class Dag:
        def __init__(self, **options: Any) -> None:
            self.options = options

        def __enter__(self) -> Dag:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    class Task:
        def __init__(self, task_id: str, bash_command: str) -> None:
            self.command = bash_command

        def __rshift__(self, other: Task) -> Task:
            order.extend([self, other])
            return other

    names = {"airflow": {"DAG": Dag}, "airflow.providers.standard.operators.bash": {"BashOperator": Task}}
    path = ["airflow", "providers", "standard", "operators", "bash"]
    for name in (".".join(path[:n]) for n in range(1, len(path) + 1)):
        module = types.ModuleType(name)
        vars(module).update(names.get(name, {}))
        monkeypatch.setitem(sys.modules, name, module)
    dag = runpy.run_path(str(EXAMPLES / "airflow_dag.py"))["dag"]
    assert dag.options["default_args"]["cwd"] == "/srv/shop" and dag.options["max_active_runs"] == 1
    assert [shell(folder, task.command).returncode for task in order] == [0, 0]
