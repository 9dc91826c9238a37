"""Which delta: losses, errors of sessions' answers and time of Rum-bound and Tum-bound, k = 5, m = 2, and what advise chooses.

    python benchmarks/deltas.py [PERSONS] [PATIENTS]

on the INFORMS 2005 slice and on the hospital of benchmarks/hospital.py, each with all of its people or so many. Releases and
questions are those of ``anondb advise``: counts by a category, in ranges, of frequent items by both, of items and of pairs;
answers are those of an analyst's session. It writes benchmarks/deltas/by_delta.csv, row by row; rows that are there are not
measured again. At last it prints the table, and asks ``advise``.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from estimates_people import ATTRIBUTES, write_people
from hospital import write_hospital
from measuring import Measured

import anondb
from anondb.compare.runs import plan
from anondb.guide.needs import Needs
from anondb.guide.people_trials import RUM, TUM, prepare_people
from anondb.guide.trials import Limits, error, try_runs

K, M, SECONDS = 5, 2, 600
DELTAS = ("0.1", "0.3", "0.5", "0.65", "0.8", "0.9", "1")
CODES = ("RACEX", "SEX", "marry")
INFORMS = ",".join(f"{name}:categorical" if name in CODES else name for name in ATTRIBUTES)
PATIENT = "age,sex:categorical,postcode:categorical,admitted:date,insurance:categorical"
KINDS = ("attributes", "ranges", "items", "pairs", "both")


@contextmanager
def data(name: str, persons: int) -> Iterator[tuple[anondb.Database, dict[str, Any]]]:
    """A database with the tables ``items`` and ``people``, and the options that say what people have."""
    with tempfile.TemporaryDirectory() as place, anondb.connect() as db:
        folder = Path(place)
        if name == "informs":
            items, people = write_people(persons, folder)
            options, columns = {"quasi_identifiers": INFORMS}, ("*", "*")
        else:
            write_hospital(folder, persons)
            items, people = folder / "diagnoses.csv", folder / "patients.csv"
            options = {"quasi_identifiers": PATIENT, "hierarchies": folder / "hierarchies"}
            columns = ("patient AS tid, code AS item", "patient AS tid, * EXCLUDE patient")
        for table, file, chosen in (("items", items, columns[0]), ("people", people, columns[1])):
            db.engine.call(lambda t=table, f=file, c=chosen: db.engine.connection.read_csv(str(f)).project(c).create(t))
        yield db, {"records": "people", **options}


def measure(out: Measured, name: str, persons: int) -> None:
    """Measure what is not measured yet."""
    with data(name, persons) as (db, people), tempfile.TemporaryDirectory() as place:
        prepared = prepare_people(db.engine, "items", Needs(K, M), people, None, Path(place))
        grid = {"k": [K], "m": [M], "delta": DELTAS}
        for run in plan([RUM, TUM], ["kkm"], grid, people):
            key = {"data": name, "persons": persons, "algorithm": run.algorithm, "delta": float(run.options["delta"])}
            if out.has(**key):
                continue
            (result,) = try_runs(prepared.whole, [run], Limits(1, "8GB", time.monotonic() + SECONDS), print)
            row = {**key, "status": result.status, "cpu_seconds": result.cpu_seconds, "peak_mib": result.peak_mib}
            if result.status == "done":
                found = result.figures
                row |= {"ncp": found["ncp"], "ul": found["ul"], "error": error(result)}
                row |= {f"relative_{r['kind']}": r["relative"] for r in found["symmetric_errors"]}
                row |= {r["kind"]: r["error"] for r in found["symmetric_errors"]}
                row["anonymize_seconds"] = found["anonymize_seconds"]
            out.add(row)


def print_table(rows: list[dict[str, Any]]) -> None:
    """The table of benchmarks/README.md."""
    print("| data | people | bound | delta | CPU s | NCP | UL | error | attributes | ranges | items | pairs | both |")
    for r in rows:
        begin = f"| {r['data']} | {r['persons']:,} | {r['algorithm'][:3]} | {r['delta']} | {r['cpu_seconds']:.1f} | "
        if r["status"] != "done":
            print(begin + f"{r['status']} |")
            continue
        figures = [f"{r['ncp']:.2f}", f"{r['ul']:.2f}", f"**{r['error']:.2f}**"]
        print(begin + " | ".join([*figures, *(f"{r[k]:.2f} ({r[f'relative_{k}']:.2g})" for k in KINDS)]) + " |")


def advise(name: str, persons: int, seconds: float, rows: list[dict[str, Any]]) -> None:
    """What advise chooses within a time, beside the default and the best of the grid, all on all persons."""
    with data(name, persons) as (db, people):
        begun = time.monotonic()
        advice = db.advise("items", k=K, m=M, time_limit=seconds, threads=1, memory_limit="8GB", **people)
    run = advice.chosen.run
    same = [r for r in rows if (r["data"], r["persons"], r["status"]) == (name, persons, "done")]
    of = {(r["algorithm"], r["delta"]): r["error"] for r in same}
    best = min(of, key=lambda key: of[key])
    chosen, default = (of.get(key, math.nan) for key in ((run.algorithm, float(run.options["delta"])), (RUM, 0.65)))
    print(
        f"| {name} | {persons:,} | {time.monotonic() - begun:.0f} | {run.name} | {chosen:.3f} | {default:.3f} |"
        f" {best[0]} {best[1]} | {of[best]:.3f} | {chosen / of[best]:.2f} | {advice.is_tested} |"
    )


def main(persons: int, patients: int) -> None:
    """Measure, print the table, and ask advise."""
    out = Measured(Path(__file__).parent / "deltas" / "by_delta.csv", "data", "persons", "algorithm", "delta")
    sizes = (("informs", persons), ("hospital", patients))
    for name, n in sizes:
        measure(out, name, n)
    print_table(out.rows)
    for name, n in sizes:
        advise(name, n, SECONDS, out.rows)


if __name__ == "__main__":
    given = [int(n) for n in sys.argv[1:3]]
    main(*given, *(26_735, 50_000)[len(given) :])
