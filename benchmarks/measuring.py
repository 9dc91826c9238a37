"""What benchmarks have in common: CPU time, whole commands, rows of measurements in CSV files, and plots."""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anondb

ANONDB = Path(sys.executable).with_name("anondb")
Row = dict[str, Any]


def cpu_seconds() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def least_cpu(work: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """The least CPU seconds of some calls, and what the last one returned."""
    taken = []
    for _ in range(times):
        begun = cpu_seconds()
        made = work()
        taken.append(cpu_seconds() - begun)
    return min(taken), made


def run_process(*command: str) -> tuple[str, int, float, float, int]:
    """Run a command; returns what it prints, its exit code, CPU seconds, wall seconds and peak MiB."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall, code = time.perf_counter() - begun, os.waitstatus_to_exitcode(status)
    return output, code, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss // 1024


def run_command(source: Path, *options: str) -> tuple[dict, float, float, int]:
    """Run ``anonymize --json``; returns its report, CPU seconds, wall seconds and peak MiB."""
    output, _, cpu, wall, peak = run_process(str(ANONDB), "anonymize", str(source), "--json", *options)
    return json.loads(output), cpu, wall, peak


def anew(session: anondb.Session, sql: str) -> anondb.Result:
    """Answer a query, of which an open session keeps nothing, with its rows."""
    session._results.clear()
    session._releases._plans._answers.clear()
    result = session.sql(sql)
    result.fetchall()
    return result


class Measured:
    """The rows of a CSV file, told apart by some of their columns; a row is written as soon as it is measured."""

    def __init__(self, place: Path, *keys: str) -> None:
        self._place, self._keys, self.rows = place, keys, list[Row]()
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            with place.open(newline="", encoding="utf-8") as file:
                self.rows = [{c: _read(v) for c, v in row.items() if v != ""} for row in csv.DictReader(file)]

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(round(v, 9) if isinstance(v, float) else v for v in (row[k] for k in self._keys))

    def get(self, **key: Any) -> Row | None:
        """The row that was measured for these."""
        return next((row for row in self.rows if self._key(row) == self._key(key)), None)

    def has(self, **key: Any) -> bool:
        """Whether this was measured."""
        return self.get(**key) is not None

    def add(self, *rows: Row) -> Row:
        """Write rows; returns the last one."""
        self.rows += rows
        columns = list(dict.fromkeys(c for r in self.rows for c in r))
        with self._place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            for row in self.rows:
                writer.writerow({c: f"{v:.9g}" if isinstance(v, float) else v for c, v in row.items()})
        print(*rows, sep="\n", flush=True)
        return rows[-1]


def _read(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


Line = tuple[str, Sequence[tuple[Any, float]]]  # its label, and its points


def plot(place: Path, panels: Sequence[tuple[str, str, Sequence[Line]]]) -> None:
    """A picture with a panel for each (title, label of x, lines), where matplotlib is installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.2), squeeze=False)
    for axis, (title, x, lines) in zip(axes[0], panels, strict=True):
        for (label, points), mark in zip(lines, "os^vD*x" * 3, strict=False):
            if points:
                axis.plot(*zip(*points, strict=True), marker=mark, label=label)
        axis.set_title(title)
        axis.set_xlabel(x)
        if axis.lines:
            axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(place, dpi=80)
    pyplot.close(figure)
