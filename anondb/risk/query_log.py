"""Measure a release on a log of real analyst queries: run each on the source, and answer it from the release."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.data.layouts import arranged
from anondb.data.sources import Source, open_source, reading
from anondb.engine import DuckDBEngine, Engine, Query, Table, reads, user_sql
from anondb.engine.texts import listed, quoted, sql, type_text
from anondb.errors import InputError
from anondb.ledger import ledger, stored
from anondb.models import json_of
from anondb.reading.options import PEOPLE
from anondb.release.manifest import types_of
from anondb.release.objects import RECORDS
from anondb.risk.accuracy import k_of
from anondb.session.opening import Asking
from anondb.session.output import Count, one_count
from anondb.statements.tokens import plain_table
from anondb.utility.accuracy import RelativeError, error_figures

NO_COUNT = "The statement does not ask for all groups of one count: leave out HAVING, LIMIT and other numbers."
NO_BOUND = "The release gives no bounds: rows of suppressed items may be any number, so count persons."
UNANSWERED = ("unsupported_query", "query_too_complex", "ambiguous_item", "bad_sql")


@dataclass(frozen=True)
class Logged:
    """One count of the log: the statement and group, truth, lower bound, estimate, upper bound."""

    query: str
    truth: int
    lower_bound: int
    estimate: float
    upper_bound: int


@dataclass(frozen=True)
class LogAccuracy:
    """Accuracy on a log."""

    counts: tuple[Logged, ...]  # one for each group of each answered statement
    relative_error: RelativeError  # of the counts whose truth is not 0
    outside: int  # truths outside their bounds: 0 unless the source changed or repeats rows
    refused: tuple[tuple[int, str], ...]  # the number of each statement without a sound answer, and the reason
    unlisted: int  # groups of the source that the release cannot list (items without a released item)

    @property
    def average_relative_error(self) -> float | None:
        """The mean error over counts whose truth is not 0; None without such."""
        return self.relative_error.mean

    @property
    def skipped(self) -> int:
        """The number of counts whose truth is 0."""
        return len(self.counts) - self.relative_error.measured

    def to_json(self) -> dict[str, Any]:
        """The figures that the command line prints."""
        return {
            "queries": len(self.counts),
            **json_of(self, "average_relative_error", "relative_error"),
            "frequent": self.relative_error.frequent_json(),
            **json_of(self, "skipped", "outside", "unlisted"),
            "refused": [{"statement": number, "reason": reason} for number, reason in self.refused],
        }


def measure_log(engine: DuckDBEngine, name: str, path: str | Path, records: Any = None) -> LogAccuracy:
    """Run the SELECTs of a file, COUNT queries that analysts wrote for the original table, on the owner's tables and on a
    release, outside a transaction; write the answers to ``anondb.accuracy``. ``records`` are by default the table that its
    ledger knows. Raises InputError: as ``read_log``; the release does not exist."""
    statements = read_log(engine, path)
    catalog = stored.current_catalog(engine)
    counts: list[Logged] = []
    refused: list[tuple[int, str]] = []
    unlisted = 0
    with engine.transaction():
        manifest = stored.find_whole(engine, name).manifest
        stored.check_writable(engine, catalog)
        entry = ledger.find(engine, catalog, name)
        asking = Asking(engine, name, stored.find_whole)
        view = None if entry is None else ledger.view_of(engine, catalog, entry.release_id)
        people = stored.records_of(engine, entry) if records is None and entry is not None else records
        with _as_original(engine, entry, view, manifest["table"]), _people_as_original(engine, people, manifest):
            for number, statement in enumerate(statements, 1):
                engine.progress(f"query {number} of {len(statements)}", (number - 1) / len(statements))
                measured = _measured(engine, asking, number, statement)
                if isinstance(measured, str):
                    refused.append((number, measured))
                else:
                    counts += measured[0]
                    unlisted += measured[1]
        answers = _answers(engine, counts)
        errors, outside = error_figures(engine, answers, k_of(manifest))
        if entry is not None:
            ledger.ensure(engine, catalog)
            ledger.record_accuracy(engine, catalog, entry.name, entry.release_id, answers, f"log {Path(path).name}")
    return LogAccuracy(tuple(counts), errors, outside, tuple(refused), unlisted)


def _measured(
    engine: DuckDBEngine, asking: Asking, number: int, statement: user_sql.UserStatement
) -> tuple[list[Logged], int] | str:
    """The counts of one statement on both sides and the number of unlisted groups, or the reason of a refusal."""
    try:
        answer = one_count(statement.text, asking.sql(statement.text))
    except InputError as error:
        if error.code not in UNANSWERED:
            raise
        return str(error)
    if answer is None:
        return NO_COUNT
    if any(None in row[-3:] for row in answer.rows):
        return NO_BOUND
    try:
        truth = user_sql.run(engine, statement.text)
    except user_sql.UserSqlError as error:
        return f"It fails on the source: {error.error}"
    return _compare(number, answer, truth)


@contextlib.contextmanager
def _as_original(engine: Engine, entry: ledger.LedgerEntry | None, view: ledger.View | None, asked: str) -> Iterator[None]:
    """Inside the block, make the original rows of a release available under the table name that analysts use. Nothing is
    needed if the source is that table, or if its rows are people without items. Else a temporary view shows the rows of the
    anonymized view or of the source; each transaction has an item once, or one list, as in the release."""
    table = None if view is None else plain_table(view.query)
    is_table = entry is not None and asked == entry.source_table and (view is None or table is not None)
    if entry is None or is_table or entry.parameters.get("layout") == PEOPLE:
        yield
        return
    if engine.exists(Table("temp", "main", asked)):
        raise InputError(
            f"The temporary table {asked!r} hides the rows of that name.", code="name_taken", hint="Drop it first."
        )
    with open_source(engine, stored.rows_of(engine, entry, view), "transactions") as source:
        body = _distinct_rows(engine, source, entry)
        with reading(source.name):
            rows = engine.create("original", body)
    with _named(engine, [asked], rows):
        yield


@contextlib.contextmanager
def _people_as_original(engine: Engine, records: Any, manifest: Mapping[str, str]) -> Iterator[None]:
    """Inside the block, make the original records available under their name and as ``records``, as analysts ask them, with
    the types that the release has: numbers of a text file, which a table may hold as texts, are numbers."""
    own, table = manifest.get("records_table", "").lower(), manifest["table"].lower()
    names = [n for n in dict.fromkeys((own, RECORDS)) if n == own or n != table]
    names = [n for n in names if not engine.exists(Table("temp", "main", n))]
    if not own or records is None or not names:
        yield
        return
    types = types_of(manifest)
    with open_source(engine, records, "records") as source:
        texts = [c for c, kind in source.columns.items() if kind == "VARCHAR" and types.get(c, kind) != kind]
        shown = listed(
            sql("CAST({0} AS {1}) AS {0}", quoted(c), type_text(types[c])) if c in texts else quoted(c)
            for c in source.columns
        )
        with reading(source.name):
            rows = engine.create("original_records", reads.rows(source.query, shown))
    with _named(engine, names, rows):
        yield


@contextlib.contextmanager
def _named(engine: Engine, names: Sequence[str], rows: Table) -> Iterator[None]:
    """Inside the block, temporary views show rows under names; then all are dropped."""
    for name in names:
        engine.run(sql("CREATE TEMPORARY VIEW {} AS SELECT * FROM {}", quoted(name), rows), "naming the rows")
    yield
    for name in names:
        engine.run(sql("DROP VIEW {}", Table("temp", "main", name)), "dropping the rows' name")
    engine.drop(rows)


def _distinct_rows(engine: Engine, source: Source, entry: ledger.LedgerEntry) -> Query:
    """The id and item columns of a source, one list for each id if there are lists; each item once unless repeats count."""
    read, *names = arranged(engine, source, entry.id_column, entry.item_column)
    bags, (id_, items) = bool(entry.parameters.get("bag_input", False)), map(quoted, names)
    if not read.columns[names[1]].endswith("]"):
        return reads.rows(read.query, f"{id_}, {items}", distinct=not bags)
    lists = reads.rows(read.query, f"{id_} AS id, {items} AS items")
    whole = "id, CASE WHEN count(*) = 1 THEN first(items) ELSE flatten(list(items)) END AS items"
    merged = reads.rows(lists, whole, group="id")
    return reads.rows(merged, f"id AS {id_}, {'items' if bags else 'list_distinct(items)'} AS {items}")


def read_log(engine: DuckDBEngine, path: str | Path) -> list[user_sql.UserStatement]:
    """The SELECTs of a file; none is run. Raises InputError: the file does not exist, is not UTF-8, or has anything else."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"The workload file {path.name!r} does not exist.", code="no_such_file")
    try:
        statements = user_sql.split(engine, path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"The workload file {path.name!r} is not valid UTF-8.", code="bad_unicode") from None
    except user_sql.UserSqlError as error:
        raise InputError(f"Line {error.line} of {path.name!r}: {error.error}", code=error.error.code) from None
    for number, statement in enumerate(statements, 1):
        if not statement.is_select:
            raise InputError(f"Statement {number} of the log is not a SELECT.", code="bad_workload", hint="Leave it out.")
    return statements


def _compare(number: int, answer: Count, truth: user_sql.UserResult) -> tuple[list[Logged], int]:
    """The counts of one statement on both sides; groups are matched by their values as text."""
    names = [c.lower() for c in truth.columns]
    at = [names.index(c.lower()) for c in answer.columns if c.lower() in names]
    if len(at) != len(answer.columns):
        at = list(range(len(answer.columns)))
    counted = next((i for i in range(len(names)) if i not in at), len(names) - 1)
    truths = {tuple(str(row[i]) for i in at): int(row[counted]) for row in truth.rows}
    counts = []
    for *groups, lower, estimate, upper in answer.rows:
        key = tuple(str(g) for g in groups)
        label = f"{number}" + (f": {', '.join(key)}" if key else "")
        counts.append(Logged(label, truths.pop(key, 0), int(lower), float(estimate), int(upper)))
    return counts, len(truths)


def _answers(engine: Engine, counts: list[Logged]) -> Table:
    """The counts as a work table of answers."""
    kinds = {"query": "VARCHAR", **dict.fromkeys(("truth", "lower_bound", "upper_bound"), "BIGINT"), "estimate": "DOUBLE"}
    rows = engine.put("log", {name: (kind, [getattr(c, name) for c in counts]) for name, kind in kinds.items()})
    error = "abs(truth - estimate) / nullif(truth, 0) AS relative_error"
    shown = f"query AS query_id, CAST(NULL AS VARCHAR[]) AS items, truth, estimate, lower_bound, upper_bound, {error}"
    return engine.create("log_answers", reads.rows(rows, shown))
