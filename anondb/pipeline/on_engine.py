"""k^m-anonymity without leaving the database: load, search, recode and verify by portable statements. In PostgreSQL the
pipeline does the rest: the recoded rows are fetched, frozen, verified and published as any others. In Spark the release is
written where the data lie."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from anondb.algorithms import METHODS
from anondb.algorithms.method import Task
from anondb.data.constraints import Requirements
from anondb.data.sources import is_file
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, Engine, Origin, Table, reads
from anondb.engine.arrays import Ints
from anondb.engine.elsewhere import warehouse_at
from anondb.errors import InputError
from anondb.ledger.ledger import LedgerEntry, ensure, find
from anondb.ledger.stored import current_catalog, load_source, read_persons
from anondb.models import Model
from anondb.models.transactional import KmAnonymity, TransactionalK
from anondb.pipeline.engine_release import EngineRelease, broken
from anondb.policy import Policy
from anondb.publications import persons
from anondb.recode import check_suppression
from anondb.recoding import GlobalRecoding, Recoding
from anondb.release.freeze import check_recoding
from anondb.utility.loss import Loss, global_loss
from anondb.verify.classes import verify_k_on
from anondb.verify.km import verify_km
from anondb.verify.result import Verification
from anondb.warehouse.loading import load_from
from anondb.warehouse.portable import PortableWarehouse

SEARCHES = ("hghs", "mhghs")  # the algorithms that need portable statements only
CODED = "transaction_id AS tid, item_id AS item"  # the columns of a release by their names in the data
MANY_ROWS = 20_000_000  # of a table, which then stays in PostgreSQL unless the owner says otherwise


Check = Callable[[Mapping[str, Table]], None]
Write = Callable[[Mapping[str, Any], Check], None]  # writes the tables of a release, and checks them


@dataclass(frozen=True)
class EngineReport:
    """The owner's report on a run in a warehouse. It contains true counts: do not give it to analysts."""

    dataset: Dataset  # the transactions; its work tables are gone
    recoding: GlobalRecoding
    verification: Verification  # of the released rows
    loss: Loss  # LM and NCP
    fetched: int  # the number of rows that reached this process
    release: str | None = None  # the schema of the release; None if none was written


def anonymize_on(
    warehouse: PortableWarehouse,
    reference: Any,
    *,
    taxonomy: Taxonomy,
    model: Model,
    write: Write | None = None,
    algorithm: str = "mhghs",
    id_column: str = "tid",
    item_column: str = "item",
    max_suppression: Fraction | None = None,
    supports: bool = False,
) -> EngineReport:
    """Make k^m-anonymous rows of a table in its database, and verify them there.

    Args:
        reference: the table, one row for each id and item.
        model: ``KmAnonymity`` with a finite m.
        write: writes the rows as a release; without it they are verified and dropped.
        algorithm: ``mhghs`` or ``hghs``.
        max_suppression: how many percent of the items may be suppressed; None for any part but all.
        supports: whether the release has item supports.

    Raises:
        InputError: ``not_on_engine`` for another model or algorithm; bad data; what ``write`` raises.
        InfeasibleError: more would be suppressed than allowed, or everything.
        VerificationFailed: the verifier did not accept the rows (a bug; nothing was kept).
        BudgetExceeded: too many rows would be fetched, or a join would take too long.
    """
    promise, before = check_on_engine(model, algorithm), warehouse.fetched
    with warehouse.snapshot():
        warehouse.progress("loading transactions")
        dataset = load_from(warehouse, reference, id_column=id_column, item_column=item_column)
        warehouse.progress(f"anonymizing with {algorithm}")
        task = Task(promise, dataset, Requirements(), taxonomy, runner=warehouse)
        recoding = cast("GlobalRecoding", METHODS[algorithm].run(cast("Any", warehouse), task))
        suppressed = int((recoding.image < 0).sum())
        check_suppression(suppressed, dataset.n_items, dataset.n_items, max_suppression)
        rows, labels = _labelled(warehouse, dataset, recoding)
        checked: list[Verification] = []

        def check(tables: Mapping[str, Table]) -> None:
            """Verify the written rows of a release."""
            coded = warehouse.create("written", reads.rows(tables["transaction_items"], CODED))
            checked.append(_verified(warehouse, coded, dataset, promise))
            if supports:
                release.check_supports(coded, tables)

        if write is None:
            checked.append(_verified(warehouse, rows, dataset, promise))
        else:
            release = EngineRelease(warehouse, dataset, recoding, promise, rows, labels)
            warehouse.progress("writing and verifying the release")
            write(release.tables(suppression=suppressed > 0, supports=supports), check)
    dataset = replace(dataset, warnings=(*dataset.warnings, *warehouse.notes))
    loss, fetched = global_loss(dataset, recoding, taxonomy), warehouse.fetched - before
    return EngineReport(dataset, recoding, checked[0], loss, fetched)


def _labelled(warehouse: PortableWarehouse, dataset: Dataset, recoding: GlobalRecoding) -> tuple[Table, dict[int, str]]:
    """The work table ``(tid, item)`` of the released items of each transaction, and the label of each by its number."""
    check_recoding(dataset, recoding)
    occurring = np.unique(recoding.image[recoding.image >= 0])
    ordered = sorted(occurring.tolist(), key=recoding.labels.__getitem__)
    number = np.zeros(len(recoding.labels), dtype=np.int64)
    number[ordered] = np.arange(1, len(ordered) + 1)
    kept = np.flatnonzero(recoding.image >= 0)
    rows = _recoded(warehouse, dataset, kept, number[recoding.image[kept]])
    return rows, {n: recoding.labels[r] for n, r in enumerate(ordered, 1)}


def _recoded(warehouse: PortableWarehouse, dataset: Dataset, items: Ints, released: Ints) -> Table:
    """The work table ``(tid, item)`` of the transactions with items replaced by others; those not listed are gone."""
    image = warehouse.put("image", {"item": ("INTEGER", items), "released": ("INTEGER", released)})
    columns = "one.tid, other.released AS item"
    rows = warehouse.create("recoded", reads.joined(dataset.transactions, image, "item", columns, distinct=True))
    warehouse.drop(image)
    return rows


def _verified(warehouse: PortableWarehouse, rows: Table, dataset: Dataset, model: KmAnonymity) -> Verification:
    """Verify rows, and raise ``VerificationFailed`` if they break the promise."""
    verification = verify_km(warehouse, rows, dataset.items, model)
    if not verification.verified:
        raise broken(f"The rows have {verification.violations} violations of {model.name}")
    return verification


def check_on_engine(model: Model, algorithm: str) -> KmAnonymity:
    """The model, if it and its algorithm run inside a database. Raises InputError: ``not_on_engine``."""
    if not isinstance(model, KmAnonymity) or model.m == math.inf or algorithm not in SEARCHES:
        raise InputError(
            "Only k^m-anonymity with a finite m, by mhghs or hghs, which need a taxonomy, is made inside the database.",
            code="not_on_engine",
            hint="Other models and algorithms need the rows: fetch them with --no-on-engine, or from Spark with"
            " anondb.connect(FILE).anonymize(DATAFRAME.toArrow(), ...).",
        )
    return model


def verify_on(
    warehouse: PortableWarehouse, reference: Any, model: Model, *, id_column: str = "tid", item_column: str = "item"
) -> Verification:
    """Check a table, one row for each id and item, against k^m-anonymity with a finite m, or transactional k-anonymity, in
    its database. Raises InputError: ``not_on_engine`` for another model; bad data."""
    if not isinstance(model, KmAnonymity | TransactionalK) or getattr(model, "m", 1) == math.inf:
        raise InputError(
            "Only km with a finite m, and k, are verified inside the database.",
            code="not_on_engine",
            hint="Verify the table without on_engine: then it is fetched.",
        )
    with warehouse.snapshot():
        dataset = load_from(warehouse, reference, id_column=id_column, item_column=item_column)
        if isinstance(model, KmAnonymity):
            return verify_km(warehouse, dataset.transactions, dataset.items, model)
        rows = reads.rows(dataset.transactions, "tid, item, 1 AS copies")
        ids = reads.rows(dataset.ids, "tid, 1 AS complete")
        violations = verify_k_on(warehouse, rows, ids, model.k)
    return Verification(model, violations == 0, violations)


def read(engine: DuckDBEngine, policy: Policy) -> tuple[Dataset, Table | None, PortableWarehouse | None]:
    """Read the transactions of a policy: the coded ones, the table of its records, and the database if they stay there."""
    warehouse, reference = _warehouse_for(engine, policy)
    if warehouse is None:
        return *read_persons(engine, policy), None
    warehouse.begin()
    engine.at_the_end(warehouse.sweep, warehouse.sweep)
    dataset = load_from(warehouse, reference, id_column=policy.id, item_column=policy.item)
    remark = f"The work was done inside {warehouse.name}: the source was not fetched."
    return replace(dataset, warnings=(*dataset.warnings, remark)), None, warehouse


def _warehouse_for(engine: DuckDBEngine, policy: Policy) -> tuple[PortableWarehouse | None, Any]:
    """The database in which a policy is carried out, and its transactions as this names them; None if rows are fetched. Data
    frames of a warehouse (``warehouse_at``) stay there. Tables of a warehouse or of an owner's database elsewhere stay if
    they have ``MANY_ROWS`` rows and the policy can be carried out there, unless the owner says otherwise."""
    source, opened, asked = policy.transactions, warehouse_at(policy.transactions), policy.on_engine
    is_frame = opened is not None and not isinstance(source, str)
    if not is_frame and (asked is False or (asked is None and opened is None and engine.warehouse() is None)):
        return None, source
    try:
        warehouse, reference = there(engine, source)
        _check_policy(policy)
        if opened is None and (not isinstance(source, str) or is_file(source)):
            raise InputError(
                f"Inside {warehouse.name} a table or a view is anonymized.",
                code="not_on_engine",
                hint="Make the query a view there, or leave --on-engine out.",
            )
        stays = asked or is_frame or warehouse.has_rows(reference, policy.id, policy.item, MANY_ROWS)
    except InputError:
        if asked or is_frame:
            raise
        return None, source
    return (warehouse, reference) if stays else (None, source)


def there(engine: DuckDBEngine, source: Any) -> tuple[PortableWarehouse, Any]:
    """The database in which a source lies, and the source as this names it: a warehouse (``warehouse_at``), or that of the
    owner's engine, in whose transaction the work is done. Raises InputError: ``not_on_engine``: the data lie in DuckDB."""
    if (opened := warehouse_at(source)) is not None:
        warehouse, reference = opened(source, on_statement=engine.say, on_progress=engine.progress)
        return warehouse, reference
    owners: PortableWarehouse | None = engine.warehouse()
    if owners is None:
        raise InputError("The data are in DuckDB already.", code="not_on_engine", hint="Leave --on-engine out.")
    return owners, source


def _check_policy(policy: Policy) -> None:
    """Check that a policy can be carried out inside a database."""
    check_on_engine(policy.model, str(policy.algorithm))
    parts = {
        "records": policy.records is not None,
        "bag_input": policy.bag_input,
        "a layout": policy.reading.layout not in (None, "long"),
    }
    wrong = [words for words, used in parts.items() if used]
    if wrong or policy.on_engine is False:
        raise InputError(
            "Inside a database, anondb anonymizes one table with a row for each id and item"
            + (f", without {wrong[0]}." if wrong else "."),
            code="not_on_engine",
            hint="Let the rows be fetched: --no-on-engine, or the Arrow table of a data frame of Spark (toArrow()).",
        )


def bring(engine: Engine, catalog: str, task: Task, recoding: Recoding, *, recorded: bool) -> Task:
    """Fetch the released rows of a task that is carried out in another database and, if it is recorded in the ledger, the
    digests of its persons. Only its occurrences and ids stay there in work tables, until the accuracy is measured. The
    dataset of the result has its other tables here. Its transactions hold, in the place of each released item, the first
    item of the data with this image; so they are not those of the source, but have the same image."""
    if task.runner is None:
        return task
    assert isinstance(recoding, GlobalRecoding)
    dataset, warehouse = task.dataset, cast("PortableWarehouse", task.runner)
    kept = np.flatnonzero(recoding.image >= 0)
    _, first, place = np.unique(recoding.image[kept], return_index=True, return_inverse=True)
    recoded = _recoded(warehouse, dataset, kept, kept[first][place])
    engine.progress("fetching the released rows")
    columns = "CAST(tid AS INTEGER) AS tid, CAST(item AS INTEGER) AS item"
    transactions = _fetched(engine, warehouse, recoded, ("tid", "item"), columns)
    digests, remark = _digests(engine, catalog, warehouse, dataset) if recorded else (None, ())
    ids = engine.put("ids", {"tid": ("INTEGER", np.arange(1, dataset.n_transactions + 1))})
    here: dict[str, Any] = {"transactions": transactions, "ids": ids, "digests": digests}
    here["warnings"] = (*dataset.warnings, *warehouse.notes, *remark)
    return replace(task, dataset=replace(_asked(engine, warehouse, dataset), **here))


def load_release(engine: DuckDBEngine, name: str) -> tuple[LedgerEntry, Dataset]:
    """Read the current source of a release (``load_source``), to measure its accuracy; what was made inside the owner's
    database is counted there."""
    entry, warehouse = find(engine, current_catalog(engine), name), engine.warehouse()
    if entry is None or entry.source_reference is None or warehouse is None or not entry.parameters.get("on_engine"):
        return load_source(engine, name)
    columns = {"id_column": entry.id_column, "item_column": entry.item_column}
    warehouse.begin()
    return entry, _asked(engine, warehouse, load_from(warehouse, entry.source_reference, **columns))


def _asked(engine: Engine, warehouse: PortableWarehouse, dataset: Dataset) -> Dataset:
    """A dataset of another database with its items here, and its occurrences there, where queries are counted."""
    labels = ("VARCHAR", list(dataset.labels))
    items = engine.put("items", {"item": ("INTEGER", np.arange(dataset.n_items)), "label": labels})
    return replace(dataset, items=items, origin=Origin(warehouse, dataset.transactions, dataset.ids, warehouse.sweep))


def _fetched(engine: Engine, warehouse: PortableWarehouse, table: Table, names: tuple[str, str], columns: str) -> Table:
    """Move the rows of a work table there, sorted by the columns ``names``, into one with ``columns`` here."""
    with warehouse.rows_of(table, names) as rows, engine.registered(rows) as view:
        fetched = engine.create(f"fetched_{names[1]}", reads.rows(view, columns))
    warehouse.drop(table)
    return fetched


def _digests(engine: Engine, catalog: str, warehouse: PortableWarehouse, dataset: Dataset) -> tuple[Table, tuple[str, ...]]:
    """The digests of the persons, made where their ids lie, and a remark on the ids that had to be fetched for this."""
    ensure(engine, catalog)
    secret = persons.key(engine, catalog)
    texts = _fetched(engine, warehouse, warehouse.digests(dataset.ids, secret), ("digest", "id"), "digest, id")
    fetched = int(engine.scalar(reads.counted(texts, where="digest IS NULL")))
    digests = persons.brought(engine, texts, secret)
    engine.drop(texts)
    words = f"{fetched:,} ids were fetched, since they are written like dates, times or numbers with an exponent."
    return digests, (words,) * bool(fetched)
