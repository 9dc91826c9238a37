"""What a built taxonomy costs beside a shared one: bms1, whose items have no meaning, and ICD-9 codes.

    python benchmarks/taxonomies.py

builds taxonomies as ``anondb taxonomy build`` does, anonymizes with each of them (k = 5, m = 2), and prints the table of
benchmarks/README.md. All runs on the same data answer the same 1,000 pairs of items.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from comparing import shown, table
from datasets import ABSENT, DATA
from estimates import write_source

import anondb
from anondb.taxonomies.build import Request, build_taxonomy
from anondb.taxonomies.writing import write_paths

BUILT = {
    "bms1": (
        Request("frequency"),
        Request("frequency", fan_out=3),
        Request("similarity"),
        Request("similarity", fan_out=3),
    ),
    "informs": (
        Request("code", lengths=(1, 2)),
        Request("code", lengths=(2,)),
        Request("frequency"),
        Request("frequency", fan_out=3),
        Request("similarity"),
        Request("similarity", fan_out=3),
    ),
}
HEAD = (
    "data",
    "taxonomy",
    "nodes",
    "build, CPU s",
    "mhghs NCP",
    "deleted",
    "released items",
    "pairs",
    "apriori NCP",
    "pairs",
)


def name(request: Request) -> str:
    """The flags of ``anondb taxonomy build``."""
    if request.by == "code":
        return f"--by code --lengths {','.join(map(str, request.lengths))}"
    return f"--by {request.by} --fan-out {request.fan_out}"


def costs(source: Path, taxonomy: Path) -> list[str]:
    """The cells of a taxonomy: what releases lose with it."""
    with anondb.connect() as db:
        whole, kept = (db.anonymize(source, taxonomy=taxonomy, algorithm=a, name=a).report for a in ("mhghs", "apriori"))
    deleted = whole.frozen.suppressed_occurrences / whole.occurrences
    errors = (shown(r.accuracy.to_json()["relative_error"]["median_frequent"]) for r in (whole, kept))
    first, second = errors
    return [
        f"{whole.loss.ncp:.2%}",
        f"{deleted:.2%}",
        str(whole.frozen.released_items),
        first,
        f"{kept.loss.ncp:.2%}",
        second,
    ]


def main() -> None:
    if not DATA.is_dir():
        sys.exit(ABSENT)
    rows = []
    for data, requests in BUILT.items():
        with tempfile.TemporaryDirectory() as folder:
            source, shared = write_source(data, Path(folder))
            rows.append([data, f"shared, {shared.name}", "", "", *costs(source, shared)])
            for request in requests:
                with anondb.connect() as db:
                    begun = time.process_time()
                    built = build_taxonomy(db.engine, source, request)
                    seconds = time.process_time() - begun
                    tree = Path(folder) / "built.tree"
                    write_paths(built, tree, replace=True)
                rows.append([data, f"`{name(request)}`", str(built.size), f"{seconds:.2f}", *costs(source, tree)])
    table(list(HEAD), rows)


if __name__ == "__main__":
    main()
