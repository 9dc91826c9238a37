"""The process of one run of a comparison: it reads a job as JSON from stdin, and writes its result as JSON to stdout. The
source is only read: the release is frozen, verified and measured in a database in memory, which is then discarded."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from anondb.algorithms.method import Task
from anondb.compare.limits import end_with_parent
from anondb.data.files import load_files
from anondb.data.layouts import ITEMS, is_single
from anondb.data.preflight import FINDINGS
from anondb.data.sources import open_source, reading_as, resolve_table
from anondb.engine import DuckDBEngine, Table, reads, tuples
from anondb.engine.texts import sql
from anondb.errors import AnondbError, InfeasibleError, InputError, speaking
from anondb.ledger.stored import current_catalog, find_release
from anondb.models.named import make_model
from anondb.options import policy_of
from anondb.pipeline.anonymize import anonymize
from anondb.pipeline.load import load
from anondb.reading.formats import is_data_file, stem_of
from anondb.reading.options import PEOPLE, ReadAs, Reading
from anondb.risk.attack import candidates

NAME = "compared"
MOST_ITEMS = 12
PERSONS = 1000  # whom an attacker looks for
LABEL_LENGTH = 60


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Anonymize, verify and measure; return the figures of the report and those that only a comparison needs."""
    for module in job["modules"]:
        import_module(module)
    engine, log = DuckDBEngine.open(threads=job["threads"], memory_limit=job["memory_limit"]), job["log"]
    try:
        options = {name: job[name] for name in ("size", "seed", "draw", "id", "item", "algorithm")} | job["options"]
        options |= {"queries": 0 if log else job["queries"], "workload": job["workload"]}
        model = make_model(job["model"], **job["parameters"])
        source, reading = _open(engine, job)
        policy = policy_of(source, {**options, **reading, "accept": FINDINGS}, model=model, name=NAME)
        with engine.transaction():
            task = load(engine, policy)
            report = anonymize(engine, policy, task=task).to_json()
            risk = _risk(engine, task, job)
        if log:
            from anondb.risk.query_log import measure_log

            with reading_as(engine, policy.rows):
                report["accuracy"] = measure_log(engine, NAME, log, policy.people).to_json()
        return {
            **{name: report[name] for name in ("released_items", "suppressed_items", "suppressed_occurrences")},
            **{name: report[name] for name in ("transactions", "items", "occurrences")},
            **{name: report[name] for name in ("verified", "violations", "warnings")},
            **{name: report["loss"][name] for name in ("lm_total", "lm", "ncp", "ul", "ul_log2", "ggd")},
            **{name: report["accuracy"][name] for name in ("queries", "skipped", "average_relative_error")},
            **{name: report["accuracy"][name] for name in ("relative_error", "frequent")},
            "refused": report["accuracy"].get("refused", []),
            **_answer_figures(engine, f"{NAME}: ", None if job["workload"] else report["relational"]),
            "anonymize_seconds": report["seconds"]["anonymize"],
            "risk": risk,
            "generalized": _generalized(engine),
        }
    finally:
        engine.close()


def _risk(engine: DuckDBEngine, task: Task, job: dict[str, Any]) -> dict[str, Any] | None:
    """What attackers find who know some items of each person, and the attributes that the release has: the number of persons
    who are alone, and the mean of 1 / the number of candidates, in the source and in the release."""
    if not job["known"]:
        return None
    schema, hidden = find_release(engine, NAME), task.sensitive or ()
    drawn = {"individuals": PERSONS, "known": job["known"]}
    try:
        sizes = candidates(engine, schema, task.dataset, task.records, hidden, **drawn)
    except InputError:  # nobody has an item that can be known
        return None
    before, after = ({"alone": int((n == 1).sum()), "chance": float((1 / n).mean())} for n in sizes)
    known = job["known"] if task.dataset.n_items else 0
    return {"persons": len(sizes[0]), "known": known, "before": before, "after": after}


def _open(engine: DuckDBEngine, job: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The transactions, and the options of how they are read: a file, or a view on the attached source's table; for a log, a
    table or a view with the name that its statements ask."""
    file, reading = Path(job["source"]), Reading(**job["reading"])
    if is_data_file(file):
        return (
            _loaded(engine, file, job, reading)
            if job["log"]
            else (file, {**reading.texts(), "file_table": job["transactions"]})
        )
    engine.attach(file)
    table = resolve_table(engine, job["transactions"], "transactions")
    view = Table(current_catalog(engine), "main", table.name)
    engine.run(sql("CREATE VIEW {} AS SELECT * FROM {}", view, table), "reading the source")
    return view, reading.texts()


def _loaded(engine: DuckDBEngine, file: Path, job: dict[str, Any], reading: Reading) -> tuple[str, dict[str, Any]]:
    """A file as a table with the name and the columns that the statements of a log ask, and how to read that."""
    name = stem_of(file)
    with open_source(engine, ReadAs(file, reading), "transactions") as source:
        if reading.layout == PEOPLE:  # all columns are attributes
            engine.create(engine.here(name), source.query)
            return name, {n: v for n, v in reading.texts().items() if n in ("layout", "drop_missing_ids")}
        item = job["item"] if is_single(source, job["item"]) else ITEMS
        columns: dict[str, Any] = {"id": job["id"], "item": job["item"], "named": (job["id"], item)}
        columns = {} if source.of_lines else columns
    load_files(engine, {"transactions": (job["source"], name)}, reading=reading, **columns)
    return name, {"item": item}


def _answer_figures(engine: DuckDBEngine, prefix: str, of_people: dict[str, Any] | None) -> dict[str, Any]:
    """The mean width of the bounds, the errors by size or statement of the queries, of people also those of attributes with
    items, and a digest of the queries that shows whether two runs answered the same ones."""
    tables = {n: Table(current_catalog(engine), "anondb", n) for n in ("accuracy", "workloads")}
    compared = sql("starts_with(workload, {})", prefix)
    width = engine.scalar(reads.rows(tables["accuracy"], "avg(upper_bound - lower_bound) AS width", where=compared))
    asked = engine.scalar("compare/asked_queries", tables, prefix=prefix)
    errors = engine.query("compare/symmetric_errors", tables, prefix=prefix)
    rows = [dict(zip(errors, row, strict=True)) for row in tuples(errors)]
    if (values := (of_people or {}).get("accuracy")) is not None:
        errors_of = {"error": values["symmetric_error"], "relative": values["relative_error"]["mean"]}
        rows.append({"size": 0, "statement": 0, "queries": values["queries"], **errors_of})
    return {"bounds_width": None if width is None else float(width), "symmetric_errors": rows, "asked": str(asked)}


def _generalized(engine: DuckDBEngine) -> list[dict[str, Any]]:
    """The most frequent generalized items: label, number of original items, and support."""
    schema = find_release(engine, NAME)
    tables = {name: schema.table(name) for name in ("transactions", "released_items")}
    rows = engine.query("compare/generalized_by_frequency", tables, most=MOST_ITEMS)
    return [
        {"item": str(item)[:LABEL_LENGTH], "size": int(size), "support": int(support)}
        for item, size, support in zip(rows["item"], rows["size"], rows["support"], strict=True)
    ]


def main() -> None:
    """Run the job on stdin, and write one JSON object to stdout, also after an error."""
    result: dict[str, Any]
    end_with_parent()
    try:
        with speaking("command line"):
            result = {"status": "done", **run(json.load(sys.stdin))}
    except InfeasibleError as error:
        result = {"status": "infeasible", "message": str(error)}
    except AnondbError as error:
        result = {"status": "memory" if error.code == "out_of_memory" else "failed", "message": str(error)}
    except MemoryError:
        result = {"status": "memory", "message": "The process had no memory left."}
    except Exception as error:  # its text may hold data values
        result = {"status": "failed", "message": f"An unexpected {type(error).__name__} stopped the run."}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
