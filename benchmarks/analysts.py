"""A hundred and eighty questions of a basket analyst in a session: the width of each answer beside its truth.

    python benchmarks/analysts.py

The questions are in ``analyst_queries.sql``. Three releases of the demo's shop answer (k=5, m=2): without and with item supports, and
with records.
For an answer with several numbers the table shows the first number of its first row; "wrong" counts numbers outside their bounds.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from measuring import ANONDB

import anondb
from anondb.session.session import Session

HERE = Path(__file__).parent
RELEASES = {"without": "spring.duckdb", "with supports": "spring_supports.duckdb", "with records": "records.duckdb"}
FEWEST = 180  # answered questions: each by one of the releases with, and by one without item supports
TABLES = """
    ALTER TABLE customers ADD COLUMN day DATE;
    UPDATE customers SET day = DATE '2026-03-01' + CAST(hash(tid) % 61 AS INTEGER);
    CREATE TABLE prices AS SELECT item, CAST(0.5 + hash(item) % 900 / 100 AS DECIMAL(9, 2)) AS price FROM sales GROUP BY item;
"""


def questions() -> list[tuple[str, str, str]]:
    """The number, title and text of each question."""
    return re.findall(r"^-- (\d+) (.*)\n(.*)$", (HERE / "analyst_queries.sql").read_text("utf-8"), re.MULTILINE)


def make(folder: Path) -> None:
    """The shop of the demo with its two releases, a column and a table more, and a release with records."""
    subprocess.run([str(ANONDB), "demo", str(folder)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute(TABLES)
    with anondb.connect(folder / "shop.duckdb") as db:
        quasi = {"records": "customers", "quasi_identifiers": "age,town,day", "taxonomy": "food", "queries": 1}
        release = db.anonymize("sales", name="records", model=anondb.KkmAnonymity(5, 2), **quasi)
        release.publish(folder / "records.duckdb", allow_overlap=True)


def numbers(session: Session, raw: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, Any, Any, Any]]:
    """The truth, estimate and bounds of each number in the answer that the original has, too."""
    result, true = session.sql(sql), raw.execute(sql)
    titles = [column[0] for column in true.description or []]
    names = [f"{t}_{titles[:i].count(t)}" if t in titles[:i] else t for i, t in enumerate(titles)]  # item, item_1
    keys = [n for n in names if f"{n}_lower" not in result.columns and n != "place"]
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    shown = {tuple(row[key] for key in keys): row for row in rows}
    listed = []
    for values in true.fetchall():
        truth = dict(zip(names, values, strict=True))
        row = shown.get(tuple(truth[key] for key in keys))
        for name in [n for n in names if n not in keys and n != "place"] if row else []:
            assert row is not None
            exact = row[name], row[name]
            lower, upper = (row.get(f"{name}_{end}", one) for end, one in zip(("lower", "upper"), exact, strict=True))
            listed.append((truth[name], row[name], lower, upper))
    return listed


def cell(session: Session, raw: duckdb.DuckDBPyConnection, sql: str) -> tuple[str, bool, int]:
    """What the table shows, whether the question is answered, and how many numbers are wrong."""
    try:
        listed = numbers(session, raw, sql)
    except anondb.InputError:
        return "-", False, 0
    wrong = sum(not _within(truth, lower, upper) for truth, _, lower, upper in listed)
    if not listed:
        return "rows", True, wrong
    truth, estimate, lower, upper = listed[0]
    return f"{_shown(truth)}: {_shown(estimate)} [{_shown(lower)}, {_shown(upper)}]", True, wrong


def _within(truth: Any, lower: Any, upper: Any) -> bool:
    if truth is None or isinstance(truth, bool):
        return lower is None or lower == truth
    if isinstance(truth, list):
        ends = ([None] * len(truth) if bound is None else bound for bound in (lower, upper))
        return all(map(_within, truth, *ends))
    if isinstance(truth, date):
        return (lower is None or lower <= truth) and (upper is None or truth <= upper)
    slack = 1e-9 * max(1.0, abs(float(truth)))
    below = lower is None or float(lower) - slack <= float(truth)
    return below and (upper is None or float(truth) <= float(upper) + slack)


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{float(value):,.4g}" if isinstance(value, float) or hasattr(value, "as_tuple") else str(value)


def main() -> int:
    """Print the table; returns whether too few questions are answered, or one wrongly."""
    with tempfile.TemporaryDirectory() as place:
        make(Path(place))
        raw = duckdb.connect(str(Path(place) / "shop.duckdb"), read_only=True)
        sessions = {name: anondb.open(Path(place) / file) for name, file in RELEASES.items()}
        for session in sessions.values():
            for table in ("food", "prices"):
                session.register(table, raw.table(table).to_arrow_table())
        print("| question | " + " | ".join(sessions) + " |", "|---" * (1 + len(sessions)) + "|", sep="\n")
        answered, faults = {"without": 0, "with supports": 0}, 0
        for number, title, sql in questions():
            cells = {name: cell(session, raw, sql) for name, session in sessions.items()}
            for name in answered:
                answered[name] += cells[name][1] or cells["with records"][1]
            faults += sum(wrong for _, _, wrong in cells.values())
            print(f"| {number} {title} | " + " | ".join(text for text, _, _ in cells.values()) + " |", flush=True)
        print(f"\nanswered: {answered} of {len(questions())} (at least {FEWEST}); wrong: {faults}")
        for session in sessions.values():
            session.close()
        raw.close()
    return int(faults > 0 or min(answered.values()) < FEWEST)


if __name__ == "__main__":
    raise SystemExit(main())
