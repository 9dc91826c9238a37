"""Where the real data sets are looked for, their tables, and the taxonomy of made ones.

docs/data.md says where the real ones come from. ``tests/realdata.py`` has the same rule.
"""

from __future__ import annotations

import os
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[1]
ABSENT = "real data is absent: set ANONDB_DATA to its folder (docs/data.md)"


def folder() -> Path:
    """ANONDB_DATA if it is set, else ``data`` in the checkout, else ``shared/data`` beside the checkout."""
    if os.environ.get("ANONDB_DATA"):
        return Path(os.environ["ANONDB_DATA"])
    beside = ROOT.parent / "shared" / "data"
    return beside if beside.is_dir() and not (ROOT / "data").is_dir() else ROOT / "data"


DATA = folder()


def load(connection: duckdb.DuckDBPyConnection, data: str, table: str = "t") -> None:
    """Make the table ``(tid, item)`` of a data set, each pair once; of ``informs`` the table ``people``, too."""
    if data == "informs":
        people = connection.read_csv(str(DATA / "informs2005_rt.csv"))
        people.project("DUPERSID AS tid, * EXCLUDE (DUPERSID, items)").create("people")
        rows = people.project("DUPERSID AS tid, unnest(string_split(items, ' ')) AS item")
    else:
        lines = connection.read_csv(str(DATA / f"{data}.dat"), header=False, sep="\t", columns={"line": "VARCHAR"})
        numbered = lines.project("row_number() OVER () AS tid, line")
        rows = numbered.project("tid, unnest(string_split(trim(line), ' ')) AS item").filter("item <> ''")
    rows.distinct().order("ALL").create(table)


def write_taxonomy(path: Path, leaves: int, fan_out: int) -> None:
    """A balanced taxonomy of the items i000, i001, ...: paths from leaf to root, ``fan_out`` nodes below each."""
    lines = []
    for leaf in range(leaves):
        nodes, width = [f"i{leaf:03d}"], fan_out
        while width < leaves:
            nodes.append(f"n{width}_{leaf // width}")
            width *= fan_out
        lines.append(";".join([*nodes, "*"]))
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
