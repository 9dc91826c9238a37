"""What holds for all tests."""

from __future__ import annotations

import functools
import gc
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli.shop import Run, in_process
from realdata import REASON
from shared import place_of_run

from anondb.engine import DuckDBEngine, Engine

pytest_plugins = ["postgres.fixtures"]
FIRST = ["warehouse", "verify"]

# A job in the background of a shell ignores SIGINT, and so would the commands that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.set_threshold(200_000, 20, 20)  # as the command has it: parse trees are seldom garbage, and long to look through

connect = duckdb.connect


@functools.wraps(connect)
def connect_with_one_thread(*args: Any, **options: Any) -> duckdb.DuckDBPyConnection:
    return connect(*args, **options | {"config": {"threads": 1} | (options.get("config") or {})})


# The data are small, and there is a worker for each core: without this, threads that wait take a sixth of the time.
duckdb.connect = connect_with_one_thread


@pytest.fixture(scope="session")
def of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what the run makes once (``shared.once``)."""
    return place_of_run(tmp_path_factory)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line, in this process."""
    return in_process(monkeypatch, capsys)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Engine]:
    """An owner's database in a file."""
    engine = DuckDBEngine.open(tmp_path / "shop.duckdb", threads=2)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """An owner's database in memory, for a whole module."""
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()


@pytest.fixture(scope="module", autouse=True)
def few_worlds() -> Iterator[None]:
    """Two worlds beside the bounds; the files that are about estimates have their own."""
    from anondb.answers import worlds

    before, worlds.MOST_WORLDS = worlds.MOST_WORLDS, 2
    yield
    worlds.MOST_WORLDS = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose files take long: a worker that has one of them at the end runs alone."""
    items.sort(key=lambda item: [item.path.parent.name != folder for folder in FIRST])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give files to workers, and those of other engines to one: a second session of Spark is half a minute of work more."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "engines" if file.startswith(("tests/postgres/", "tests/warehouse/")) else file

    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Collection leaves a million objects for good: the garbage collector need not look at them again in each test."""
    gc.collect()
    gc.freeze()


def explained(skipped: list[Any]) -> list[str]:
    """Say how many tests were skipped, and why; real data that are absent are one reason."""
    reasons = [r.longrepr[2] if isinstance(r.longrepr, tuple) else str(r.longrepr) for r in skipped]
    reasons = [r.removeprefix("Skipped: ") for r in reasons]
    absent = [r.removeprefix(REASON) for r in reasons if r.startswith(REASON)]
    lines = []
    if absent:
        files = sorted({name.strip() for names in absent for name in names.split(",")})
        lines.append(
            f"{len(absent)} tests skipped: real data is absent; set ANONDB_DATA to a folder with {', '.join(files)}"
            " (docs/data.md says where the data comes from)"
        )
    others = Counter(r for r in reasons if not r.startswith(REASON))
    return lines + [f"{n} tests skipped: {reason}" for reason, n in sorted(others.items())]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = explained(terminalreporter.stats.get("skipped", []))
    if lines:
        terminalreporter.section("skipped tests")
    for line in lines:
        terminalreporter.write_line(line)
