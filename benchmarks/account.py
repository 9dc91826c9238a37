"""What the account of a file costs: CPU seconds of ``anondb load`` of a million rows with and without it, in turn. Without it
nothing counts bytes, lines, persons or items. Needs no data: persons have 1 to 9 of 2,000 items; their rows stand together,
or in random order.

    python benchmarks/account.py [RUNS]
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from pathlib import Path

from measuring import run_process

ROWS = 1_000_000
RUN = "import runpy, sys; sys.argv[0] = 'anondb'; runpy.run_module('anondb', run_name='__main__')"
WITHOUT = f"""
import anondb.data.files, anondb.reading.files
seen = anondb.reading.files.Survey("0" * 64, 0, 0, 0, 0, False, True, True, False)
anondb.reading.files.survey = lambda *_: seen
anondb.reading.files.count_records = lambda *_: (0, 0, 0)
anondb.data.files._account = lambda engine, source, *_: engine.account(source.account)
{RUN}
"""


def rows() -> list[str]:
    rnd, made, person = random.Random(1), list[str](), 0
    while len(made) < ROWS:
        person += 1
        made += [f"{person},item{int(i * rnd.random())}\n" for i in rnd.sample(range(2000), rnd.randint(1, 9))]
    return made[:ROWS]


def cpu(program: str, file: Path, folder: Path) -> float:
    database = folder / "owner.duckdb"
    database.unlink(missing_ok=True)
    words = ("load", str(database), "--transactions", str(file), "--as", "sales")
    _, code, used, _, _ = run_process(sys.executable, "-c", program, *words)
    assert code == 0
    return used


def main(runs: int) -> None:
    made = rows()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "sales.csv"
        for order in ("together", "in random order"):
            file.write_text("tid,item\n" + "".join(made))
            pairs = [(cpu(RUN, file, folder), cpu(WITHOUT, file, folder)) for _ in range(runs)]
            plain, more = statistics.median(b for _, b in pairs), statistics.median(a - b for a, b in pairs)
            print(f"rows {order}: {plain:.2f} s without the account, {1000 * more:.0f} ms more with it: {more / plain:.1%}")
            random.Random(2).shuffle(made)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
