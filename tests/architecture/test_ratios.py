"""The guard of speed fails where a job takes twice as long beside plain DuckDB, and not where the machine is slow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PLAIN = {"pairs": 0.2, "sort": 0.004}


@pytest.fixture
def ratios(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    found = importlib.import_module("ratios")
    monkeypatch.setattr(found, "TRANSACTIONS", 10)
    monkeypatch.setattr(found, "KEPT", tmp_path / "kept.csv")
    found.KEPT.write_text("job,ratio\ncoat,3.0\nmhghs freeze,2.0\ngone,1.0\n")
    monkeypatch.setattr(found.sys, "argv", ["ratios.py", "--check"])
    return found


@pytest.mark.parametrize(
    "rounds, code",
    [
        ([({"coat": 0.6}, PLAIN)], 0),
        ([({"coat": 1.3}, PLAIN)], 1),
        ([({"coat": 6.0}, {"pairs": 2.0})], 0),  # a slow machine slows both
        ([({"coat": 1.3}, PLAIN), ({"coat": 1.3}, PLAIN), ({"coat": 1.3}, PLAIN), ({"coat": 0.9}, PLAIN)], 0),
        ([({"mhghs freeze": 0.03}, PLAIN)], 0),  # what a statement takes in 4 ms is raised to 10
        ([({"new": 9.0}, {"new": 1.0})], 0),
    ],
)
def test_a_ratio_that_doubled(
    ratios: Any, monkeypatch: pytest.MonkeyPatch, rounds: list[Any], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    left = iter(rounds)
    monkeypatch.setattr(ratios, "one_round", lambda *_: next(left, rounds[-1]))
    monkeypatch.setitem(ratios.BESIDE, "new", "new")
    assert ratios.main() == code
    assert ("DOUBLED" in capsys.readouterr().out) == bool(code)


def test_every_job_has_a_ratio_and_a_statement() -> None:
    kept = (BENCHMARKS / "ratios.csv").read_text("utf-8").splitlines()[1:]
    text = (BENCHMARKS / "README.md").read_text("utf-8")
    for line in kept:
        job, ratio = line.split(",")
        assert f"| {job} | {float(ratio):.1f} |" in text.replace("| |", "|")
