"""Compare promises, algorithms and parameters on an owner's data: plan, read and copy the sources, run, and conclude."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.algorithms.relational import WITHOUT_ITEMS
from anondb.compare.copies import Copies, copying
from anondb.compare.limits import parse_size
from anondb.compare.merits import name_of, recommended
from anondb.compare.questions import write_questions
from anondb.compare.report import comparison as report_page
from anondb.compare.report import runs_tables
from anondb.compare.results import digest, is_table, keep, row, stored_results, write_csv
from anondb.compare.runs import Result, Run, Setting, plan, run_all
from anondb.data.frames import is_frame
from anondb.data.records import load_records
from anondb.data.sources import is_file, open_source, reading_as
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import fingerprint, load_transactions
from anondb.engine import DuckDBEngine
from anondb.engine.files import write_private
from anondb.engine.spill import private_directory
from anondb.errors import InputError
from anondb.ledger.stored import check_writable, current_catalog
from anondb.options import WORKLOAD
from anondb.policy import Workload
from anondb.reading.options import PEOPLE, as_read
from anondb.risk.attack import USUAL_KNOWLEDGE

if TYPE_CHECKING:
    import pandas as pd

SOURCES = ("taxonomy", "records", "hierarchies", "domains", "sensitive", "privacy_constraints", "utility_constraints")
"""The options that may name a table."""
GRID = ("k", "m", "delta", "h", "p", "l")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs side by side. It has exact figures of the original data: it is for their owner.

    Attributes:
        source: the name of the transactions.
        transactions, items, occurrences, longest: their numbers, and the most items of a transaction.
        runs: the results, in the order of the runs: ``run``, ``status``, ``figures`` and so on.
        setting: the inputs and limits that all runs share.
    """

    source: str
    transactions: int
    items: int
    occurrences: int
    longest: int
    runs: tuple[Result, ...]
    setting: Setting = field(repr=False)

    @property
    def done(self) -> list[Result]:
        """The runs that made a release."""
        return [result for result in self.runs if result.status == "done"]

    @property
    def recommended(self) -> list[tuple[Result, str]]:
        """The runs to choose, each with the reason: one without attributes, one with them."""
        return recommended(self.done)

    @property
    def unanswered(self) -> dict[int, str]:
        """The statements of the log that a release did not answer, by number, each with a reason."""
        return dict(refusal.values() for r in self.runs for refusal in r.figures.get("refused", ()))

    @property
    def facts(self) -> dict[str, Any]:
        """The figures of the source."""
        names = ("source", "transactions", "items", "occurrences", "longest")
        return {name: getattr(self, name) for name in names}

    def df(self) -> pd.DataFrame:
        """The results as a data frame: a row for each run, with the columns of ``csv`` and ``run``, ``delta`` and
        ``item_supports``."""
        import pandas as pd

        own = ({"run": r.run.name, **{n: r.run.options.get(n) for n in ("delta", "item_supports")}} for r in self.runs)
        return pd.DataFrame([{**first, **row(r)} for first, r in zip(own, self.runs, strict=True)])

    def csv(self, path: str | os.PathLike[str]) -> None:
        """Write the results as CSV. Raises an ``InputError`` if the file cannot be written."""
        write_csv(os.fspath(path), self.runs)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page with the recommendation, plots and all figures. Raises an ``InputError`` if it cannot be written."""
        write_private(os.fspath(path), report_page(self.runs, self.setting, self.facts))

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        best = [{"run": r.run.name, **asdict(r.run), "reason": why} for r, why in self.recommended]
        return {**self.facts, "runs": [r.to_json() for r in self.runs], "recommended": best}

    def __repr__(self) -> str:
        """The runs with their outcomes, and the recommendation."""
        lines = [f"{name_of(r)}: {r.status if r.message is None else f'{r.status}: {r.message}'}" for r in self.runs]
        lines += [f"recommended: {name_of(r)}: {why}" for r, why in self.recommended]
        return "\n".join([f"comparison of {len(self.runs)} runs on {self.source}", *lines])

    def _repr_html_(self) -> str:
        """The tables of the runs, for notebooks."""
        return runs_tables(self.runs)


def compare(
    engine: DuckDBEngine,
    transactions: Any,
    *,
    algorithms: Sequence[str] = (),
    models: Sequence[str] = ("km",),
    grid: Mapping[str, Sequence[Any]],
    options: Mapping[str, Any],
    item_supports: bool | None = None,
    workload: Any = None,
    limits: Mapping[str, Any],
    again: bool = False,
) -> Comparison:
    """Run promises, algorithms and parameters on the same data and questions.

    Runs read files where they are; all else is copied into a private directory (mode 0700), which is removed at the end.
    Each result is stored in the ledger as soon as its run has ended, if there is a ledger that can be written.

    Args:
        engine: the engine, outside a transaction.
        algorithms, models, grid, item_supports: see ``runs.plan``.
        options: options of the policy and of the algorithms, and those of the workload and the columns.
        workload: the owner's queries: a table or file, or a ``.sql`` log of COUNT queries.
        limits: ``threads``, ``memory_limit`` and ``time_limit`` of each run; ``total_limit`` of all, in seconds.
        again: repeat runs whose results are in the ledger.

    Raises:
        InputError: see ``runs.plan`` and ``Policy``; an option that applies to no run; a source that cannot be read.
    """
    parse_size(str(limits["memory_limit"]))
    each = {name: limits[name] for name in ("threads", "memory_limit", "time_limit")}
    read = as_read(transactions)
    if read.reading.layout == PEOPLE:
        algorithms = algorithms or WITHOUT_ITEMS
    asked = {name: options[name] for name in WORKLOAD if name in options}
    asked = {n: getattr(Workload(**asked), n) for n in WORKLOAD}
    options = {
        n: os.fspath(v) if isinstance(v, os.PathLike) else v for n, v in options.items() if v is not None and n not in asked
    }
    workload = os.fspath(workload) if isinstance(workload, os.PathLike) else workload
    planned = plan(algorithms, models, grid, {n: _shown(n, v) for n, v in options.items()}, item_supports)
    _check_used(planned, [*options, *(["delta"] if "delta" in grid else [])])
    log = workload if isinstance(workload, str) and workload.lower().endswith(".sql") else None
    numbers = [r.parameters[name] for r in planned for name in ("m", "p") if isinstance(r.parameters.get(name), int)]
    asked |= {"log": log, "workload": None if log or workload is None else _shown("workload", workload)}
    asked |= {"id": read.id, "item": read.item, "reading": asdict(read.reading)}
    asked |= {"known": max(numbers, default=USUAL_KNOWLEDGE)}
    setting = Setting(str(read.data) if isinstance(read.data, str | Path) else "", None, **asked, **each, fingerprint="")
    folder = private_directory()
    try:
        with reading_as(engine, transactions):
            setting, facts = _read(engine, transactions, setting, {**options, "workload": workload}, folder)
        earlier = {} if again else stored_results(engine)
        results = run_all(setting, planned, earlier, _keeping(engine), engine.progress, limits.get("total_limit"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Comparison(**facts, runs=tuple(results), setting=setting)


def _shown(name: str, value: Any) -> Any:
    """An option as results name it: data frames by their type."""
    if is_frame(value):
        return type(value).__name__
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(part, str | int | float | list | tuple) for part in parts):
        hint = "Name a table, a file or a folder, or pass a data frame."
        raise InputError(f"A comparison cannot read {name} from a {type(value).__name__}.", code="bad_source", hint=hint)
    return value


def _check_used(runs: list[Run], options: list[str]) -> None:
    """Raise an ``InputError`` for an option that no run takes."""
    for option in options:
        if option != "taxonomy" and not any(option in run.options for run in runs):
            raise InputError(f"{option} applies to none of these algorithms.", code="bad_usage", hint="Leave it out.")


def _read(
    engine: DuckDBEngine, transactions: Any, setting: Setting, options: Mapping[str, Any], folder: Path
) -> tuple[Setting, dict[str, Any]]:
    """Read the sources once, to refuse bad data before any run, to compute the fingerprint of the results, and to copy what
    the processes of the runs cannot read."""
    from anondb.risk.query_log import read_log

    if setting.log is not None:
        read_log(engine, setting.log)
    data = as_read(transactions).data
    in_file = isinstance(data, Path) or (isinstance(data, str) and is_file(data))
    named = {name: options.get(name) for name in SOURCES} | {"workload": options.get("workload")}
    with copying(engine, folder / "sources.duckdb") as copies, copies.transaction():
        if "quasi_identifiers" in options and named["records"] is None:  # columns of the transactions
            named["records"] = os.fspath(data) if isinstance(data, os.PathLike) else data
        others = [digest(engine, v, name.replace("_", " ")) for name, v in named.items() if v is not None]
        with open_source(engine, transactions, "transactions") as source:
            dataset = load_transactions(engine, source)
            if not in_file:
                place = _copied(copies, source.query, "transactions", source.table)
                setting = replace(setting, source=str(folder / "sources.duckdb"), transactions=place)
        if options.get("taxonomy") is not None:
            load_taxonomy(engine, options["taxonomy"]).leaf_nodes(dataset)
        places = {}
        if not dataset.n_items and options.get("quasi_identifiers") and named["workload"] is None:
            given = {name: options.get(name) for name in ("quasi_identifiers", "hierarchies")}
            attributes = load_records(engine, transactions, dataset, **given).attributes
            places["log"] = str(folder / "questions.sql")  # where nobody has items
            write_questions(Path(places["log"]), attributes, dataset, held="", people=dataset.table)
        for name, value in options.items():
            if name in named and is_table(value):
                with open_source(engine, value, name.replace("_", " ")) as source:
                    places[name] = _copied(copies, source.query, name, name if is_frame(value) else source.table)
        data_key = "-".join([fingerprint(engine, dataset), *others])
    setting = replace(setting, size=min(setting.size, max(1, dataset.longest)))
    sizes = {"transactions": dataset.n_transactions, "items": dataset.n_items, "occurrences": dataset.n_occurrences}
    facts = {"source": dataset.table, **sizes, "longest": dataset.longest}
    return replace(setting, fingerprint=data_key, places=places), facts


def _copied(copies: Copies, rows: Any, schema: str, name: str) -> str:
    """Copy rows into a table of a schema of its own; return its name for the runs."""
    copies.engine.create(copies.table(schema, name), rows)
    return replace(copies.written(schema, name), catalog="").sql()


def _keeping(engine: DuckDBEngine) -> Any:
    """Return a function that stores a result in the ledger; it does nothing if there is no ledger that can be written."""
    with contextlib.suppress(InputError):
        check_writable(engine, current_catalog(engine))
        if not engine.one_shot:
            return lambda key, result: keep(engine, key, result)
    return lambda key, result: None
