"""The owner's ledger: all releases with their sources, information loss, and the decisions of their algorithms.

It is the schema ``anondb`` of the owner's database, and is never published.
"""

from __future__ import annotations

import contextlib
import getpass
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from anondb.data.constraints import PrivacyConstraints
from anondb.data.sources import Partition
from anondb.engine import Engine, Table
from anondb.engine.limit import check_seconds
from anondb.errors import InputError
from anondb.promises.spec import Knowledge
from anondb.recoding import Decision
from anondb.release.objects import same_name

if TYPE_CHECKING:
    from anondb.data.requirements import Requirements
    from anondb.data.taxonomy import Taxonomy

LEDGER_SCHEMA = "anondb"
PRESENT, DROPPED = "present", "dropped"

_RELEASES = {
    "name": "VARCHAR",
    "release_id": "VARCHAR",
    "model": "VARCHAR",
    "parameters": "VARCHAR",
    "algorithm": "VARCHAR",
    "source_table": "VARCHAR",
    "source_reference": "VARCHAR",
    "id_column": "VARCHAR",
    "item_column": "VARCHAR",
    "fingerprint": "VARCHAR",
    "transactions": "BIGINT",
    "items": "BIGINT",
    "released_items": "BIGINT",
    "suppressed_items": "BIGINT",
    "suppressed_occurrences": "BIGINT",
    "lm_total": "VARCHAR",
    "lm": "DOUBLE",
    "ncp": "DOUBLE",
    "ul": "DOUBLE",
    "ul_log2": "DOUBLE",
    "ggd": "VARCHAR",
    "verified": "BOOLEAN",
    "violations": "BIGINT",
    "created": "TIMESTAMP",
    "user_name": "VARCHAR",
    "version": "VARCHAR",
    "status": "VARCHAR",
}
_DECISIONS = {
    "release": "VARCHAR",
    "step": "BIGINT",
    "round": "BIGINT",
    "action": "VARCHAR",
    "subject": "VARCHAR",
    "support": "BIGINT",
    "cost": "VARCHAR",
}
_WORKLOADS = {"workload": "VARCHAR", "query_id": "VARCHAR", "items": "VARCHAR[]"}
_ACCURACY = {
    "release": "VARCHAR",
    "release_id": "VARCHAR",
    "workload": "VARCHAR",
    "query_id": "VARCHAR",
    "truth": "BIGINT",
    "estimate": "DOUBLE",
    "lower_bound": "BIGINT",
    "upper_bound": "BIGINT",
    "relative_error": "DOUBLE",
}
_VIEWS = dict.fromkeys(("name", "release", "release_id", "query", "options", "source_table"), "VARCHAR")
PUBLICATIONS = {
    "name": "VARCHAR",
    "release_id": "VARCHAR",
    "file": "VARCHAR",
    "transactions": "BIGINT",
    "rows": "BIGINT",
    "sha256": "VARCHAR",
    "content_digest": "VARCHAR",
    "allowed_overlap": "BOOLEAN",
    "smallest_candidates": "BIGINT",
    "published": "TIMESTAMP",
    "user_name": "VARCHAR",
}
REPORTS = dict.fromkeys(("release_id", "report"), "VARCHAR")
PARTITIONS = dict.fromkeys(("release_id", "column_name", "value", "kind", "digest"), "VARCHAR")
LOADED_FILES = dict.fromkeys(("source_reference", "path", "account"), "VARCHAR")
PERSONS = {"release_id": "VARCHAR", "person": "BIGINT"}
STATEMENTS = {"release_id": "VARCHAR", "step": "BIGINT", "statement": "VARCHAR"}
OVERLAPS = {
    **dict.fromkeys(("name", "release_id", "other", "other_id"), "VARCHAR"),
    "persons": "BIGINT",
    "compared": "VARCHAR",
    **dict.fromkeys(("only_here", "only_there", "alone", "below_k", "k", "cells", "smallest_candidates"), "BIGINT"),
    "bounds_differ": "BIGINT",
    "reason": "VARCHAR",
    "measured": "TIMESTAMP",
}
KEPT = {  # tables with the rows of published releases that were dropped or replaced
    "kept_facts": dict.fromkeys(("release_id", "key", "value"), "VARCHAR"),
    "kept_items": dict.fromkeys(("release_id", "released_item", "item"), "VARCHAR"),
    "kept_counts": {"release_id": "VARCHAR", "item": "VARCHAR", "lower_bound": "BIGINT", "upper_bound": "BIGINT"},
    "kept_rows": {
        "release_id": "VARCHAR",
        "persons": "BIGINT",
        "items": "VARCHAR[]",
        "copies": "INTEGER[]",
        "attribute_values": "VARCHAR[]",
    },
    "kept_buckets": {
        "release_id": "VARCHAR",
        "bucket_id": "INTEGER",
        "column_id": "INTEGER",
        "items": "VARCHAR[]",
        "copies": "INTEGER",
    },
}
_TAXONOMIES = {"release": "VARCHAR", "ord": "BIGINT", "node": "VARCHAR", "parent": "VARCHAR"}
_CONSTRAINTS = {"release": "VARCHAR", "kind": "VARCHAR", "ord": "BIGINT", "set_id": "VARCHAR", "item": "VARCHAR"}
_SENSITIVE = {"release": "VARCHAR", "item": "VARCHAR"}
_RECORDS = {"release": "VARCHAR", "fingerprint": "VARCHAR"}
ConstraintRow = tuple[str, int, str, str | None]
_TABLES = {
    "releases": _RELEASES,
    "decisions": _DECISIONS,
    "taxonomies": _TAXONOMIES,
    "constraints": _CONSTRAINTS,
    "sensitive_items": _SENSITIVE,
    "record_digests": _RECORDS,
    "views": _VIEWS,
    "workloads": _WORKLOADS,
    "accuracy": _ACCURACY,
    "publications": PUBLICATIONS,
    "statements": STATEMENTS,
    "reports": REPORTS,
    "overlaps": OVERLAPS,
    "secrets": {"secret": "VARCHAR"},
    "persons": PERSONS,
    "partitions": PARTITIONS,
    "loaded_files": LOADED_FILES,
    **KEPT,
}


def system_user() -> str:
    """The name of the operating system's user, or ``unknown``."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def now() -> datetime:
    """The current time in UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True)
class LedgerEntry:
    """One release in the ledger.

    Attributes:
        name, release_id: its name, and its random number (a name can be reused, a number cannot).
        model, parameters, algorithm: the promise, its parameters, and the algorithm.
        source_table, id_column, item_column: the source; source_reference identifies it in this database.
        fingerprint: a digest of its data, if it was computed.
        transactions, items, released_items: N, distinct items of the data, released items that occur.
        suppressed_items, suppressed_occurrences: how many were suppressed.
        lm_total, lm, ncp, ul, ul_log2, ggd: information loss (``anondb.utility.Loss``), exact totals as the text of a
            fraction; None if the model does not define the measure.
        verified, violations: the verification of the frozen rows.
        version: the version of anondb.
        user_name, created: the user who made it, and the time (UTC, without a time zone).
        status: ``present`` or ``dropped``.
    """

    name: str
    release_id: str
    model: str
    parameters: dict[str, Any]
    algorithm: str
    source_table: str
    id_column: str
    item_column: str
    transactions: int
    items: int
    released_items: int
    suppressed_items: int
    suppressed_occurrences: int
    verified: bool
    violations: int
    version: str
    source_reference: str | None = None
    fingerprint: str | None = None
    lm_total: str | None = None
    lm: float | None = None
    ncp: float | None = None
    ul: float | None = None
    ul_log2: float | None = None
    ggd: str | None = None
    user_name: str = field(default_factory=system_user)
    created: datetime = field(default_factory=now)
    status: str = PRESENT

    @property
    def population(self) -> str | None:
        """The owner's name for the people whom its ids mean; None if they are not named."""
        return self.parameters.get("population")

    def texts(self) -> dict[str, str | None]:
        """The entry's row, all values as text; parameters as JSON."""
        row: dict[str, str | None] = {}
        for column in _RELEASES:
            value = getattr(self, column)
            if column == "parameters":
                value = json.dumps(value, sort_keys=True, ensure_ascii=False)
            row[column] = None if value is None else str(value)
        return row


@dataclass(frozen=True)
class View:
    """An anonymized view: the source and the policy of its release.

    Attributes:
        name: the name of the view and of its release.
        query: the text of its query.
        options: the options of its statement.
        table: the plain name of its source, for the manifest.
        partition: the part of its rows that a release holds; None if a release holds all.
    """

    name: str
    query: str
    options: Mapping[str, Any]
    table: str
    partition: Partition | None = None

    @property
    def release(self) -> str:
        """The name of its release, or of that of the part."""
        return self.name if self.partition is None else f"{self.name}/{self.partition.value}"

    @property
    def time_limit(self) -> float | None:
        """The seconds until its release must be made; None for no limit."""
        return check_seconds(self.options.get("time_limit"))


def ledger_table(catalog: str, name: str) -> Table:
    """The identity of a table of the ledger."""
    return Table(catalog, LEDGER_SCHEMA, name)


def present(engine: Engine, table: Table, columns: Mapping[str, str]) -> bool:
    """Whether a table of the ledger exists.

    Raises:
        InputError: ``ledger_name``: an object of the user has its name.
    """
    return table.name in _stored(engine, table.catalog, {table.name: columns})


def check_names(engine: Engine, catalog: str) -> None:
    """Check, before the long work, that no table or view of the user has the name of a ledger table.

    Raises:
        InputError: ``ledger_name``.
    """
    _stored(engine, catalog, _TABLES)


def _stored(engine: Engine, catalog: str, wanted: Mapping[str, Mapping[str, str]]) -> set[str]:
    """The wanted tables that exist in the ledger's schema."""
    stored = engine.query("release/stored_tables", catalog_name=catalog, schema=LEDGER_SCHEMA)
    texts = {name.lower(): text for name, text in zip(*(c.tolist() for c in stored.values()), strict=True)}
    for name in texts.keys() & wanted.keys():
        types = {column: _type(kind) for column, kind in wanted[name].items()}
        if not types.items() <= _columns_of(texts[name]).items():
            raise InputError(
                f"{name!r} in the schema {LEDGER_SCHEMA!r} is not the ledger's table of that name.",
                code="ledger_name",
                hint=f"Rename it, or move it into another schema: {LEDGER_SCHEMA!r} is the schema of anondb's ledger.",
            )
    return texts.keys() & wanted.keys()


@cache
def _type(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect="duckdb")


@lru_cache(maxsize=64)
def _columns_of(text: str) -> dict[str, exp.DataType]:
    """The columns and types of a table, from the statement that creates it; none of a view."""
    with contextlib.suppress(SqlglotError):
        return {c.name.lower(): c.kind for c in parse_one(text, dialect="duckdb").find_all(exp.ColumnDef) if c.kind}
    return {}


def ensure(engine: Engine, catalog: str) -> None:
    """Create the missing schema and tables of the ledger."""
    missing = _TABLES.keys() - _stored(engine, catalog, _TABLES)
    if not missing:
        return
    schema = exp.Table(
        db=exp.to_identifier(LEDGER_SCHEMA, quoted=True), catalog=exp.to_identifier(catalog, quoted=True)
    )
    tables = [_definition(ledger_table(catalog, name), _TABLES[name]) for name in _TABLES if name in missing]
    engine.run_all([exp.Create(this=schema, kind="SCHEMA", exists=True), *tables], "creating the ledger")


def _definition(table: Table, columns: Mapping[str, str]) -> exp.Create:
    definitions = [
        exp.ColumnDef(this=exp.to_identifier(c, quoted=True), kind=_type(t).copy()) for c, t in columns.items()
    ]
    return exp.Create(this=exp.Schema(this=table.expression(), expressions=definitions), kind="TABLE")


def append(engine: Engine, target: Table, types: dict[str, str], rows: Sequence[Mapping[str, str | None]]) -> None:
    """Add rows of texts, cast to the columns' types."""
    engine.insert(target, {c: (t, np.array([row[c] for row in rows], dtype=object)) for c, t in types.items()})


def record(engine: Engine, catalog: str, entry: LedgerEntry, decisions: Sequence[Decision] = ()) -> None:
    """Write a release and its decisions into the ledger; mark a present entry of the same name as dropped.

    Args:
        engine: the engine, inside a transaction.
        catalog: the owner's database.
        entry: the release.
        decisions: the decisions of the algorithm, in order.
    """
    ensure(engine, catalog)
    mark_dropped(engine, catalog, entry.name)
    append(engine, ledger_table(catalog, "releases"), _RELEASES, [entry.texts()])
    rows: list[dict[str, str | None]] = [
        {
            "release": entry.release_id,
            "step": str(d.step),
            "round": str(d.round_number),
            "action": d.action,
            "subject": d.subject,
            "support": None if d.support is None else str(d.support),
            "cost": str(d.cost),
        }
        for d in decisions
    ]
    if rows:
        append(engine, ledger_table(catalog, "decisions"), _DECISIONS, rows)


def record_taxonomy(engine: Engine, catalog: str, release_id: str, taxonomy: Taxonomy | None) -> None:
    """Store the taxonomy of a release for ``explain``: one row for each node, in preorder."""
    if taxonomy is None:
        return
    parents = [None if p < 0 else taxonomy.labels[p] for p in taxonomy.parent.tolist()]
    columns: dict[str, tuple[str, Iterable[Any]]] = {
        "release": ("VARCHAR", [release_id] * taxonomy.size),
        "ord": ("BIGINT", np.arange(taxonomy.size)),
        "node": ("VARCHAR", list(taxonomy.labels)),
        "parent": ("VARCHAR", parents),
    }
    engine.insert(ledger_table(catalog, "taxonomies"), columns)


def taxonomy_of(engine: Engine, catalog: str, release_id: str) -> list[tuple[str, str | None]]:
    """The (node, parent) pairs of a release's taxonomy, in preorder; none without a taxonomy."""
    table = ledger_table(catalog, "taxonomies")
    if not present(engine, table, _TABLES[table.name]):
        return []
    nodes = engine.query("release/taxonomy_of", {"taxonomies": table}, release_id=release_id)
    return [(str(n), plain(p)) for n, p in zip(nodes["node"], nodes["parent"], strict=True)]


def constraint_rows(requirements: Requirements) -> list[ConstraintRow]:
    """The owner's constraints as rows: kind (``countable``, ``privacy``, ``utility`` or ``weight``), position and id of the
    set (the weight itself), and an item; the constraints of Pgen are one row without an item."""
    rows: list[ConstraintRow] = []
    for kind, sets in (
        ("countable", requirements.countable),
        ("privacy", requirements.privacy),
        ("utility", requirements.utility),
    ):
        if isinstance(sets, str):
            rows.append((kind, 0, sets, None))
        elif sets is not None:
            rows += [(kind, i, sets.ids[i], item) for i in range(len(sets)) for item in sets.items(i)]
    if isinstance(requirements.weights, Mapping):
        rows += [("weight", 0, str(weight), item) for item, weight in sorted(requirements.weights.items())]
    return rows


def record_constraints(engine: Engine, catalog: str, release_id: str, requirements: Requirements) -> None:
    """Store the constraints of a release, for later verification; call it after ``ensure``."""
    rows = constraint_rows(requirements)
    columns: dict[str, tuple[str, Iterable[Any]]] = {
        "release": ("VARCHAR", [release_id] * len(rows)),
        "kind": ("VARCHAR", [r[0] for r in rows]),
        "ord": ("BIGINT", [r[1] for r in rows]),
        "set_id": ("VARCHAR", [r[2] for r in rows]),
        "item": ("VARCHAR", [r[3] for r in rows]),
    }
    engine.insert(ledger_table(catalog, "constraints"), columns)


def constraints_of(engine: Engine, catalog: str, release_id: str) -> list[ConstraintRow]:
    """The constraints of a release, in the form of ``constraint_rows``."""
    table = ledger_table(catalog, "constraints")
    if not present(engine, table, _TABLES[table.name]):
        return []
    rows = engine.query("release/constraints_of", {"constraints": table}, release_id=release_id)
    columns = [[plain(v) for v in rows[name]] for name in ("kind", "ord", "set_id", "item")]
    return list(zip(*columns, strict=True))


def privacy_of(engine: Engine, catalog: str, release_id: str) -> PrivacyConstraints | str | None:
    """The privacy constraints of a release (``pgen`` for those of Pgen); None without any."""
    sets: dict[str, list[str]] = {}
    for kind, _, set_id, item in constraints_of(engine, catalog, release_id):
        if kind == "privacy":
            if item is None:
                return set_id
            sets.setdefault(set_id, []).append(item)
    return PrivacyConstraints.of(sets.values(), list(sets)) if sets else None


def record_sensitive(engine: Engine, catalog: str, release_id: str, sensitive: Sequence[str]) -> None:
    """Store the private items of a release, which does not list them, for later verification; call it after ``ensure``."""
    columns = {"release": [release_id] * len(sensitive), "item": list(sensitive)}
    engine.insert(ledger_table(catalog, "sensitive_items"), {c: ("VARCHAR", values) for c, values in columns.items()})


def sensitive_of(engine: Engine, catalog: str, release_id: str) -> tuple[str, ...]:
    """The private items of a release; empty without any."""
    table = ledger_table(catalog, "sensitive_items")
    if not present(engine, table, _TABLES[table.name]):
        return ()
    rows = engine.query("release/sensitive_of", {"sensitive_items": table}, release_id=release_id)
    return tuple(rows["item"].tolist())


def record_records(engine: Engine, catalog: str, release_id: str, fingerprint: str) -> None:
    """Store a digest of a release's records, with which REFRESH detects changes; call it after ``ensure``."""
    row: dict[str, str | None] = {"release": release_id, "fingerprint": fingerprint}
    append(engine, ledger_table(catalog, "record_digests"), _RECORDS, [row])


def records_of(engine: Engine, catalog: str, release_id: str) -> str | None:
    """The digest of a release's records; None without records."""
    table = ledger_table(catalog, "record_digests")
    if not present(engine, table, _TABLES[table.name]):
        return None
    digests = engine.query("release/records_of", {"record_digests": table}, release_id=release_id)["fingerprint"]
    return str(digests[0]) if len(digests) else None


def recorded_answers(engine: Engine, catalog: str, release_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """The answers of each workload on a release: items, truth, estimate, lower and upper bound, by truth."""
    tables = {name: ledger_table(catalog, name) for name in ("accuracy", "workloads")}
    if not all(present(engine, table, _TABLES[table.name]) for table in tables.values()):
        return {}
    rows = engine.query("report/recorded_answers", tables, release_id=release_id)
    answers: dict[str, list[tuple[Any, ...]]] = {}
    for workload, items, *counts in zip(*(column.tolist() for column in rows.values()), strict=True):
        answers.setdefault(str(workload), []).append((tuple(items), *counts))
    return answers


def record_view(engine: Engine, catalog: str, release_id: str, view: View) -> None:
    """Record the anonymized view of a release; call it after ``record``."""
    row: dict[str, str | None] = {
        "name": view.name,
        "release": view.release,
        "release_id": release_id,
        "query": view.query,
        "options": json.dumps(dict(view.options), ensure_ascii=False),
        "source_table": view.table,
    }
    append(engine, ledger_table(catalog, "views"), _VIEWS, [row])


def view_of(engine: Engine, catalog: str, release_id: str) -> View | None:
    """The anonymized view of a release, or None."""
    table = ledger_table(catalog, "views")
    if not present(engine, table, _TABLES[table.name]):
        return None
    views = engine.query("release/view_of", {"views": table}, release_id=release_id)
    if not len(views["name"]):
        return None
    name, query, options, source = (str(views[c][0]) for c in ("name", "query", "options", "source_table"))
    chosen = json.loads(options)
    part = _partition_of(engine, catalog, release_id) if "partition_by" in chosen else None
    return View(name, query, chosen, source, part)


def _partition_of(engine: Engine, catalog: str, release_id: str) -> Partition | None:
    table = ledger_table(catalog, "partitions")
    if not present(engine, table, PARTITIONS):
        return None
    rows = engine.query("release/partition_of", {"partitions": table}, release_id=release_id)
    parts = [Partition(*map(str, row)) for row in zip(*(column.tolist() for column in rows.values()), strict=True)]
    return parts[0] if parts else None


def record_accuracy(engine: Engine, catalog: str, name: str, release_id: str, answers: Table, workload: str) -> None:
    """Store a workload and its answers, including the truth, in ``anondb.workloads`` and ``anondb.accuracy``.

    The latest answers of a workload on a release replace earlier ones. Call it after ``ensure``.

    Args:
        engine: the engine, inside a transaction.
        catalog: the owner's database.
        name, release_id: the release.
        answers: the work table of answers, one row per query.
        workload: the name of the workload.
    """
    label = f"{name}: {workload}"
    for table in ("workloads", "accuracy"):
        same = exp.column("workload").eq(exp.convert(label))
        engine.run(exp.delete(ledger_table(catalog, table).expression(), where=same), "writing the ledger")
    facts = {"release": name, "release_id": release_id, "workload": label}
    for table, columns in (("workloads", _WORKLOADS), ("accuracy", _ACCURACY)):
        values = [exp.convert(facts[c]).as_(c) if c in facts else exp.column(c) for c in columns]
        source = exp.select(*values).from_(answers.expression())
        target = exp.Schema(
            this=ledger_table(catalog, table).expression(), expressions=[exp.to_identifier(c) for c in columns]
        )
        engine.run(exp.Insert(this=target, expression=source), "writing the ledger")


def plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value; None if it is masked."""
    if value is None or np.ma.is_masked(value):
        return None
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    return value.item() if hasattr(value, "item") else value


def entries(engine: Engine, catalog: str) -> list[LedgerEntry]:
    """All releases in the ledger, including dropped ones, oldest first; none without a ledger."""
    table = ledger_table(catalog, "releases")
    if not present(engine, table, _TABLES[table.name]):
        return []
    releases = engine.query("release/ledger_entries", {"releases": table})
    names = [f.name for f in fields(LedgerEntry)]
    result = []
    for i in range(len(releases["name"])):
        row = {name: plain(releases[name][i]) for name in names}
        row["parameters"] = json.loads(row["parameters"])
        result.append(LedgerEntry(**row))
    return result


def find(engine: Engine, catalog: str, name: str) -> LedgerEntry | None:
    """The present release of this name (upper and lower case are the same), or None."""
    present = [e for e in entries(engine, catalog) if e.status == PRESENT and same_name(e.name, name)]
    return present[-1] if present else None


def decisions_of(engine: Engine, catalog: str, release_id: str) -> list[dict[str, Any]]:
    """The algorithm's decisions for a release, in order.

    Each has step, round, action, subject, support (None if none forced it) and cost (the text of a fraction).
    """
    table = ledger_table(catalog, "decisions")
    if not present(engine, table, _TABLES[table.name]):
        return []
    rows = engine.query("release/decisions", {"decisions": table}, release_id=release_id)
    return [{c: plain(column[i]) for c, column in rows.items()} for i in range(len(rows["step"]))]


def mark_dropped(engine: Engine, catalog: str, name: str) -> None:
    """Mark the release of this name as dropped; keep its entry."""
    entry = find(engine, catalog, name)
    if entry is None:
        return
    engine.run(
        exp.update(
            ledger_table(catalog, "releases").expression(),
            {"status": exp.Literal.string(DROPPED)},
            where=exp.column("release_id").eq(exp.Literal.string(entry.release_id)),
        ),
        "writing the ledger",
    )


def knowledge_of(engine: Engine, catalog: str, release_id: str) -> Knowledge:
    """The inputs of a release's check other than its rows, from the ledger."""
    return Knowledge(privacy_of(engine, catalog, release_id), tuple(sensitive_of(engine, catalog, release_id)))
