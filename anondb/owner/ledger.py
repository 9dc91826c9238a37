"""The owner's ledger: which releases there are, where they come from, what they cost, and the decisions behind them.

It lies in the schema ``anondb`` of the owner's database and never leaves it.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from anondb.data.constraints import PrivacyConstraints
from anondb.engine import Engine, Table
from anondb.errors import InputError
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
STATEMENTS = {"release_id": "VARCHAR", "step": "BIGINT", "statement": "VARCHAR"}
OVERLAPS = {
    **dict.fromkeys(("name", "release_id", "other", "other_id"), "VARCHAR"),
    "persons": "BIGINT",
    "compared": "VARCHAR",
    **dict.fromkeys(("only_here", "only_there", "alone", "below_k", "k", "cells", "smallest_candidates"), "BIGINT"),
    "reason": "VARCHAR",
    "measured": "TIMESTAMP",
}
KEPT = {  # of published releases that were dropped or replaced
    "kept_facts": dict.fromkeys(("release_id", "key", "value"), "VARCHAR"),
    "kept_items": dict.fromkeys(("release_id", "released_item", "item"), "VARCHAR"),
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
    "overlaps": OVERLAPS,
    **KEPT,
}


def system_user() -> str:
    """The name of the operating system's user, or ``unknown``."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def now() -> datetime:
    """The time, UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True)
class LedgerEntry:
    """One release in the ledger.

    Attributes:
        name, release_id: what the owner calls it, and its random number (a name can be used again, a number not).
        model, parameters, algorithm: what was promised, with which parameters, and who computed it.
        source_table, id_column, item_column: the source; source_reference finds it again in this database.
        fingerprint: a digest of its data, if it was taken.
        transactions, items, released_items: N, distinct items of the data, released items that occur.
        suppressed_items, suppressed_occurrences: what was taken away.
        lm_total, lm, ncp, ul, ul_log2, ggd: information loss (``anondb.utility.Loss``), exact totals as the text of a
            fraction; None where a model has none.
        verified, violations: what the verifier said of the frozen rows.
        version: of anondb.
        user_name, created: who made it, and when (UTC, without a time zone).
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
    """An anonymized view: what its release is made from, and how.

    Attributes:
        name: of the view and of its release.
        query: the text of its query.
        options: the options of its statement.
        table: the plain name of its source, for the manifest.
    """

    name: str
    query: str
    options: Mapping[str, Any]
    table: str


def ledger_table(catalog: str, name: str) -> Table:
    """The identity of a table of the ledger."""
    return Table(catalog, LEDGER_SCHEMA, name)


def present(engine: Engine, table: Table, columns: Mapping[str, str]) -> bool:
    """Whether a table of the ledger exists.

    Raises:
        InputError: ``ledger_name``: something of the user's has its name.
    """
    return table.name in _stored(engine, table.catalog, {table.name: columns})


def check_names(engine: Engine, catalog: str) -> None:
    """Refuse tables and views of the user's that have the names of the ledger's, before the long work.

    Raises:
        InputError: ``ledger_name``.
    """
    _stored(engine, catalog, _TABLES)


def _stored(engine: Engine, catalog: str, wanted: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Which of the wanted tables exist in the ledger's schema."""
    found = engine.query("release/stored_columns", catalog_name=catalog, schema=LEDGER_SCHEMA)
    kinds: dict[str, dict[str, str]] = {}
    tables: dict[str, bool] = {}
    for name, column, kind, is_table in zip(*(c.tolist() for c in found.values()), strict=True):
        kinds.setdefault(name.lower(), {})[column.lower()] = kind
        tables[name.lower()] = is_table
    for name in kinds.keys() & wanted.keys():
        if not tables[name] or not wanted[name].items() <= kinds[name].items():
            raise InputError(
                f"{name!r} in the schema {LEDGER_SCHEMA!r} is not the table of that name in which anondb keeps its ledger.",
                code="ledger_name",
                hint=f"Rename it, or move it into another schema: {LEDGER_SCHEMA!r} is the schema of anondb's ledger.",
            )
    return kinds.keys() & wanted.keys()


def ensure(engine: Engine, catalog: str) -> None:
    """Create the ledger's schema and tables where they are absent."""
    check_names(engine, catalog)
    schema = exp.Table(
        db=exp.to_identifier(LEDGER_SCHEMA, quoted=True), catalog=exp.to_identifier(catalog, quoted=True)
    )
    engine.run(exp.Create(this=schema, kind="SCHEMA", exists=True), "creating the ledger")
    for name, columns in _TABLES.items():
        definitions = [
            exp.ColumnDef(this=exp.to_identifier(c, quoted=True), kind=exp.DataType.build(t, dialect="duckdb"))
            for c, t in columns.items()
        ]
        engine.run(
            exp.Create(
                this=exp.Schema(this=ledger_table(catalog, name).expression(), expressions=definitions),
                kind="TABLE",
                exists=True,
            ),
            "creating the ledger",
        )


def append(engine: Engine, target: Table, types: dict[str, str], rows: Sequence[Mapping[str, str | None]]) -> None:
    """Add rows of texts, cast to the columns' types."""
    texts = engine.put("ledger_rows", {c: ("VARCHAR", [row[c] for row in rows]) for c in types})
    names = {c: exp.to_identifier(c, quoted=True) for c in types}
    casts = [exp.cast(exp.column(names[c].copy()), t, dialect="duckdb").as_(c, quoted=True) for c, t in types.items()]
    source = exp.select(*casts).from_(texts.expression())
    columns = exp.Schema(this=target.expression(), expressions=list(names.values()))
    engine.run(exp.Insert(this=columns, expression=source), "writing the ledger")
    engine.drop(texts)


def record(engine: Engine, catalog: str, entry: LedgerEntry, decisions: Sequence[Decision] = ()) -> None:
    """Write a release and the decisions behind it into the ledger; a present entry of the same name becomes dropped.

    Args:
        engine: the engine, inside a transaction.
        catalog: the owner's database.
        entry: the release.
        decisions: what the algorithm chose, in order.
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
    """Keep the taxonomy of a release as it was, for ``explain``: a row for each node, in preorder."""
    if taxonomy is None:
        return
    parents = [None if p < 0 else taxonomy.labels[p] for p in taxonomy.parent.tolist()]
    columns: dict[str, tuple[str, Iterable[Any]]] = {
        "release": ("VARCHAR", [release_id] * taxonomy.size),
        "ord": ("BIGINT", np.arange(taxonomy.size)),
        "node": ("VARCHAR", list(taxonomy.labels)),
        "parent": ("VARCHAR", parents),
    }
    _insert(engine, ledger_table(catalog, "taxonomies"), columns)


def _insert(engine: Engine, target: Table, columns: dict[str, tuple[str, Iterable[Any]]]) -> None:
    """Add rows that are given as columns."""
    rows = engine.put("ledger_rows", columns)
    named = exp.Schema(this=target.expression(), expressions=[exp.to_identifier(c) for c in columns])
    engine.run(exp.Insert(this=named, expression=exp.select(*columns).from_(rows.expression())), "writing the ledger")
    engine.drop(rows)


def taxonomy_of(engine: Engine, catalog: str, release_id: str) -> list[tuple[str, str | None]]:
    """The (node, parent) pairs of the taxonomy that a release was made with, in preorder; none if it had none."""
    table = ledger_table(catalog, "taxonomies")
    if not present(engine, table, _TABLES[table.name]):
        return []
    found = engine.query("release/taxonomy_of", {"taxonomies": table}, release_id=release_id)
    return [(str(n), plain(p)) for n, p in zip(found["node"], found["parent"], strict=True)]


def constraint_rows(stated: Requirements) -> list[ConstraintRow]:
    """What was stated as rows: kind (``countable``, ``privacy``, ``utility`` or ``weight``), the set's place and id (the
    weight itself), and an item; Pgen's constraints are one row without an item."""
    rows: list[ConstraintRow] = []
    for kind, sets in (("countable", stated.countable), ("privacy", stated.privacy), ("utility", stated.utility)):
        if isinstance(sets, str):
            rows.append((kind, 0, sets, None))
        elif sets is not None:
            rows += [(kind, i, sets.ids[i], item) for i in range(len(sets)) for item in sets.items(i)]
    if isinstance(stated.weights, Mapping):
        rows += [("weight", 0, str(weight), item) for item, weight in sorted(stated.weights.items())]
    return rows


def record_constraints(engine: Engine, catalog: str, release_id: str, stated: Requirements) -> None:
    """Keep what was stated for a release, so that it can be verified again."""
    ensure(engine, catalog)
    rows = constraint_rows(stated)
    columns: dict[str, tuple[str, Iterable[Any]]] = {
        "release": ("VARCHAR", [release_id] * len(rows)),
        "kind": ("VARCHAR", [r[0] for r in rows]),
        "ord": ("BIGINT", [r[1] for r in rows]),
        "set_id": ("VARCHAR", [r[2] for r in rows]),
        "item": ("VARCHAR", [r[3] for r in rows]),
    }
    _insert(engine, ledger_table(catalog, "constraints"), columns)


def constraints_of(engine: Engine, catalog: str, release_id: str) -> list[ConstraintRow]:
    """What was stated for a release, as ``constraint_rows`` has it."""
    table = ledger_table(catalog, "constraints")
    if not present(engine, table, _TABLES[table.name]):
        return []
    found = engine.query("release/constraints_of", {"constraints": table}, release_id=release_id)
    columns = [[plain(v) for v in found[name]] for name in ("kind", "ord", "set_id", "item")]
    return list(zip(*columns, strict=True))


def privacy_of(engine: Engine, catalog: str, release_id: str) -> PrivacyConstraints | str | None:
    """The privacy constraints that a release was made with, ``pgen`` for those of Pgen; None if it had none."""
    sets: dict[str, list[str]] = {}
    for kind, _, set_id, item in constraints_of(engine, catalog, release_id):
        if kind == "privacy":
            if item is None:
                return set_id
            sets.setdefault(set_id, []).append(item)
    return PrivacyConstraints.of(sets.values(), list(sets)) if sets else None


def record_sensitive(engine: Engine, catalog: str, release_id: str, sensitive: Sequence[str]) -> None:
    """Keep the private items of a release, so that it can be verified again: the release does not list them."""
    ensure(engine, catalog)
    columns = {"release": [release_id] * len(sensitive), "item": list(sensitive)}
    _insert(engine, ledger_table(catalog, "sensitive_items"), {c: ("VARCHAR", values) for c, values in columns.items()})


def sensitive_of(engine: Engine, catalog: str, release_id: str) -> tuple[str, ...]:
    """The private items that a release was made with; none where it has none."""
    table = ledger_table(catalog, "sensitive_items")
    if not present(engine, table, _TABLES[table.name]):
        return ()
    found = engine.query("release/sensitive_of", {"sensitive_items": table}, release_id=release_id)
    return tuple(found["item"].tolist())


def record_records(engine: Engine, catalog: str, release_id: str, fingerprint: str) -> None:
    """Keep a digest of the records that a release was made with, so that REFRESH notices when they change."""
    ensure(engine, catalog)
    row: dict[str, str | None] = {"release": release_id, "fingerprint": fingerprint}
    append(engine, ledger_table(catalog, "record_digests"), _RECORDS, [row])


def records_of(engine: Engine, catalog: str, release_id: str) -> str | None:
    """The digest of the records that a release was made with; None where it had none."""
    table = ledger_table(catalog, "record_digests")
    if not present(engine, table, _TABLES[table.name]):
        return None
    found = engine.query("release/records_of", {"record_digests": table}, release_id=release_id)["fingerprint"]
    return str(found[0]) if len(found) else None


def record_view(engine: Engine, catalog: str, release_id: str, view: View) -> None:
    """Note which anonymized view a release belongs to; call it after ``record``."""
    row: dict[str, str | None] = {
        "name": view.name,
        "release": view.name,
        "release_id": release_id,
        "query": view.query,
        "options": json.dumps(dict(view.options), ensure_ascii=False),
        "source_table": view.table,
    }
    append(engine, ledger_table(catalog, "views"), _VIEWS, [row])


def view_of(engine: Engine, catalog: str, release_id: str) -> View | None:
    """The anonymized view that a release belongs to, or None."""
    table = ledger_table(catalog, "views")
    if not present(engine, table, _TABLES[table.name]):
        return None
    found = engine.query("release/view_of", {"views": table}, release_id=release_id)
    if not len(found["name"]):
        return None
    name, query, options, source = (str(found[c][0]) for c in ("name", "query", "options", "source_table"))
    return View(name, query, json.loads(options), source)


def record_accuracy(engine: Engine, catalog: str, name: str, release_id: str, answers: Table, workload: str) -> None:
    """Keep a workload and its answers, truth included, in ``anondb.workloads`` and ``anondb.accuracy``.

    The same workload on the same release is kept once: its latest answers replace the earlier ones.

    Args:
        engine: the engine, inside a transaction.
        catalog: the owner's database.
        name, release_id: the release.
        answers: the work table of answers, one row a query.
        workload: what the workload is called.
    """
    ensure(engine, catalog)
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
    """A NumPy scalar as Python's own, None where it is masked."""
    if value is None or np.ma.is_masked(value):
        return None
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    return value.item() if hasattr(value, "item") else value


def entries(engine: Engine, catalog: str) -> list[LedgerEntry]:
    """All releases that the ledger knows, dropped ones too, the oldest first; none where there is no ledger."""
    table = ledger_table(catalog, "releases")
    if not present(engine, table, _TABLES[table.name]):
        return []
    found = engine.query("release/ledger_entries", {"releases": table})
    names = [f.name for f in fields(LedgerEntry)]
    result = []
    for i in range(len(found["name"])):
        row = {name: plain(found[name][i]) for name in names}
        row["parameters"] = json.loads(row["parameters"])
        result.append(LedgerEntry(**row))
    return result


def find(engine: Engine, catalog: str, name: str) -> LedgerEntry | None:
    """The present release of this name (upper and lower case are the same), or None."""
    present = [e for e in entries(engine, catalog) if e.status == PRESENT and same_name(e.name, name)]
    return present[-1] if present else None


def decisions_of(engine: Engine, catalog: str, release_id: str) -> list[dict[str, Any]]:
    """The decisions behind a release, in order.

    Each has step, round, action, subject, support (None where none forced it) and cost (the text of a fraction).
    """
    table = ledger_table(catalog, "decisions")
    if not present(engine, table, _TABLES[table.name]):
        return []
    found = engine.query("release/decisions", {"decisions": table}, release_id=release_id)
    return [{c: plain(column[i]) for c, column in found.items()} for i in range(len(found["step"]))]


def mark_dropped(engine: Engine, catalog: str, name: str) -> None:
    """Note that the release of this name is gone; its entry stays."""
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
