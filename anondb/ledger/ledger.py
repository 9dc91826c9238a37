"""The owner's ledger: all releases with their sources, information loss, and the decisions of their algorithms. It is the
schema ``anondb`` of the owner's database, and is never published."""

import getpass
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from anondb.data.constraints import PrivacyConstraints, Requirements
from anondb.data.sources import Partition
from anondb.data.taxonomy import Taxonomy
from anondb.engine import Engine, Table, tuples
from anondb.engine.limit import check_seconds
from anondb.ledger.tables import (
    ACCURACY,
    CONSTRAINTS,
    DECISIONS,
    PARTITIONS,
    RELEASES,
    SENSITIVE,
    TABLES,
    TAXONOMIES,
    VIEWS,
    WORKLOADS,
    create,
    stored,
)
from anondb.promises.spec import Knowledge
from anondb.recoding import Decision
from anondb.release.objects import same_name

PRESENT, DROPPED = "present", "dropped"


ConstraintRow = tuple[str, int, str, str | None]


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

    @property
    def row(self) -> dict[str, Any]:
        """The entry's row; parameters as JSON."""
        parameters = json.dumps(self.parameters, sort_keys=True, ensure_ascii=False)
        return {column: getattr(self, column) for column in RELEASES.columns} | {"parameters": parameters}


@dataclass(frozen=True)
class View:
    """An anonymized view: the source and the policy of its release."""

    name: str  # that of the view and of its release
    query: str
    options: Mapping[str, Any]  # those of its statement
    table: str  # the plain name of its source, for the manifest
    partition: Partition | None = None  # the part of its rows that a release holds; None for all

    @property
    def release(self) -> str:
        """The name of its release; that of a part ends with a slash and the value."""
        return self.name if self.partition is None else f"{self.name}/{self.partition.value}"

    @property
    def time_limit(self) -> float | None:
        """The seconds until its release must be made; None for no limit."""
        return check_seconds(self.options.get("time_limit"))


def check_names(engine: Engine, catalog: str) -> None:
    """Check, before the long work, that no table or view of the user has the name of a ledger table."""
    stored(engine, catalog, TABLES)


def ensure(engine: Engine, catalog: str) -> None:
    """Create the missing schema and tables of the ledger."""
    create(engine, catalog, TABLES)


def record(engine: Engine, catalog: str, entry: LedgerEntry, decisions: Sequence[Decision] = ()) -> None:
    """Write a release and its decisions, in order, into the ledger; mark a present entry of the same name as dropped."""
    ensure(engine, catalog)
    mark_dropped(engine, catalog, entry.name)
    RELEASES.append(engine, catalog, [entry.row])
    rows = (vars(decision) | {"release": entry.release_id, "round": decision.round_number} for decision in decisions)
    DECISIONS.append(engine, catalog, rows)


def record_taxonomy(engine: Engine, catalog: str, release_id: str, taxonomy: Taxonomy) -> None:
    """Store the taxonomy of a release for ``explain``: one row for each node, in preorder."""
    parents = (None if parent < 0 else taxonomy.labels[parent] for parent in taxonomy.parent.tolist())
    TAXONOMIES.note(engine, catalog, release_id, zip(count(), taxonomy.labels, parents, strict=False))


def taxonomy_of(engine: Engine, catalog: str, release_id: str) -> list[tuple[str, str | None]]:
    """The (node, parent) pairs of a release's taxonomy, in preorder; none without a taxonomy."""
    return [(node, parent) for _, node, parent in TAXONOMIES.noted(engine, catalog, release_id)]


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


def privacy_of(engine: Engine, catalog: str, release_id: str) -> PrivacyConstraints | str | None:
    """The privacy constraints of a release (``pgen`` for those of Pgen); None without any."""
    sets: dict[str, list[str]] = {}
    for kind, _, set_id, item in CONSTRAINTS.noted(engine, catalog, release_id):
        if kind == "privacy":
            if item is None:
                return str(set_id)
            sets.setdefault(set_id, []).append(item)
    return PrivacyConstraints.of(sets.values(), list(sets)) if sets else None


def sensitive_of(engine: Engine, catalog: str, release_id: str) -> tuple[str, ...]:
    """The private items of a release, which does not list them; empty without any."""
    return tuple(item for (item,) in SENSITIVE.noted(engine, catalog, release_id))


def recorded_answers(engine: Engine, catalog: str, release_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """The answers of each workload on a release: items, truth, estimate, lower and upper bound, by truth."""
    tables = (ACCURACY, WORKLOADS)
    if not all(table.present(engine, catalog) for table in tables):
        return {}
    read = {table.name: table.at(catalog) for table in tables}
    rows = engine.query("ledger/recorded_answers", read, release_id=release_id)
    answers: dict[str, list[tuple[Any, ...]]] = {}
    for workload, items, *counts in tuples(rows):
        answers.setdefault(str(workload), []).append((tuple(items), *counts))
    return answers


def record_view(engine: Engine, catalog: str, release_id: str, view: View) -> None:
    """Record the anonymized view of a release; call it after ``record``."""
    options = json.dumps(dict(view.options), ensure_ascii=False)
    row = {"name": view.name, "release": view.release, "release_id": release_id, "query": view.query}
    VIEWS.append(engine, catalog, [row | {"options": options, "source_table": view.table}])


def view_of(engine: Engine, catalog: str, release_id: str) -> View | None:
    """The anonymized view of a release, or None."""
    views = VIEWS.rows(engine, catalog, release_id)
    if not views:
        return None
    row, chosen = views[0], json.loads(views[0]["options"])
    parts = PARTITIONS.rows(engine, catalog, release_id) if "partition_by" in chosen else []
    part = Partition(parts[0]["column_name"], parts[0]["value"], parts[0]["kind"]) if parts else None
    return View(row["name"], row["query"], chosen, row["source_table"], part)


def record_accuracy(engine: Engine, catalog: str, name: str, release_id: str, answers: Table, workload: str) -> None:
    """Store a workload and its answers (a work table, one row per query), including the truth, in ``anondb.workloads`` and
    ``anondb.accuracy``, in the place of earlier ones of the workload on the release. Call it after ``ensure``."""
    label = f"{name}: {workload}"
    for table in (WORKLOADS, ACCURACY):
        table.delete(engine, catalog, label)
    WORKLOADS.take(engine, catalog, answers, workload=label)
    ACCURACY.take(engine, catalog, answers, workload=label, release=name, release_id=release_id)


def entries(engine: Engine, catalog: str) -> list[LedgerEntry]:
    """All releases in the ledger, including dropped ones, oldest first; none without a ledger."""
    rows = RELEASES.rows(engine, catalog)
    return [LedgerEntry(**(row | {"parameters": json.loads(row["parameters"])})) for row in rows]


def find(engine: Engine, catalog: str, name: str) -> LedgerEntry | None:
    """The present release of this name (upper and lower case are the same), or None."""
    present = [e for e in entries(engine, catalog) if e.status == PRESENT and same_name(e.name, name)]
    return present[-1] if present else None


def mark_dropped(engine: Engine, catalog: str, name: str) -> None:
    """Mark the release of this name as dropped; keep its entry."""
    if (entry := find(engine, catalog, name)) is not None:
        RELEASES.change(engine, catalog, entry.release_id, status=DROPPED)


def knowledge_of(engine: Engine, catalog: str, release_id: str) -> Knowledge:
    """The inputs of a release's check other than its rows, from the ledger."""
    return Knowledge(privacy_of(engine, catalog, release_id), sensitive_of(engine, catalog, release_id))
