"""``anondb compare`` for benchmarks: runs by algorithm and parameters, as the command's JSON has them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Runs = dict[tuple[str, int, Any], dict[str, Any]]


def there(*algorithms: str) -> str:
    """Those of the algorithms that this version has, as ``--algorithms`` wants them."""
    from anondb.algorithms import METHODS

    return ",".join(name for name in algorithms if name in METHODS)


def compare(source: Path, *words: object) -> Runs:
    """The runs by (algorithm, k, m); a promise without m has the m None."""
    command = [sys.executable, "-m", "anondb", "compare", str(source), *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout or "{}")
    if "runs" not in found:
        raise SystemExit(f"anondb compare failed: {found.get('error', done.stderr)}")
    return {(r["algorithm"], r["parameters"]["k"], r["parameters"].get("m")): r for r in found["runs"]}


def shown(value: float | None, form: str = ".3g") -> str:
    return "-" if value is None else format(value, form)


def table(head: list[str], rows: list[list[str]]) -> None:
    """A table in Markdown."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()
