"""Which delta: losses, errors of questions and time of Rum-bound and Tum-bound for delta = 0.1 to 0.9, k = 5, m = 2.

    python benchmarks/deltas.py [PERSONS] [PATIENTS]

on the INFORMS 2005 slice and on the hospital of benchmarks/hospital.py, each with all of its people or so many. It writes
benchmarks/deltas/by_delta.csv, row by row; rows that are there are not measured again. The questions are random counts: of
two attributes' values, of two items, and of one of each. Time is CPU seconds of the algorithm alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hospital import write_hospital
from rt_paper import Case, Measured, Workload, loaded, measured

from anondb.data.records import load_records
from anondb.data.sources import open_source
from anondb.data.transactions import load_transactions
from anondb.engine import DuckDBEngine

K = 5
DELTAS = [d / 10 for d in range(1, 10)]
PATIENT = "age,sex:categorical,postcode:categorical,admitted:date,insurance:categorical"


@contextmanager
def hospital(patients: int) -> Iterator[Case]:
    """The hospital, loaded."""
    engine = DuckDBEngine.open(threads=2)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_hospital(folder, patients)
        for name in ("patients", "diagnoses"):
            engine.call(lambda name=name: engine.connection.read_csv(str(folder / f"{name}.csv")).create(name))
        engine.begin()
        with (
            open_source(engine, "diagnoses", "transactions") as rows,
            open_source(engine, "patients", "records") as people,
        ):
            data = load_transactions(engine, rows, id_column="patient", item_column="code", more_ids=people)
        records = load_records(engine, "patients", data, quasi_identifiers=PATIENT, hierarchies=folder / "hierarchies")
        yield Case(engine, data, records)
    engine.close()


def main(persons: int, patients: int) -> None:
    """Measure what is not measured yet."""
    place = Path(__file__).parent / "deltas"
    place.mkdir(exist_ok=True)
    out = Measured(place / "by_delta.csv", "data", "persons", "algorithm", "delta")
    for name, n, case_of in (("informs", persons, loaded), ("hospital", patients, hospital)):
        with case_of(n) as case:
            workload = Workload(case)
            for algorithm in ("rum_bound_rt", "tum_bound_rt"):
                for delta in DELTAS:
                    key = {"data": name, "persons": n, "algorithm": algorithm, "delta": delta}
                    if not out.has(**key):
                        out.add(key | measured(case, algorithm, delta, K, workload))


if __name__ == "__main__":
    given = [int(n) for n in sys.argv[1:3]]
    main(*given, *(26_735, 50_000)[len(given) :])
