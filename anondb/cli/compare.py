"""The command that runs several algorithms side by side: compare."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import (
    AskedWorkload,
    Json,
    MemoryOfRun,
    OptionPairs,
    Source,
    Transactions,
    check_targets,
    opened,
    progress,
    transactions_of,
)
from anondb.cli.flags import flag_values, pairs, with_flags
from anondb.cli.words import print_json, shown
from anondb.errors import EngineError, InfeasibleError, InputError
from anondb.models import PROMISE
from anondb.options import WORKLOAD
from anondb.pages.text import plain
from anondb.pipeline.report_rows import figure
from anondb.reading.options import READING, as_read

if TYPE_CHECKING:
    from anondb.compare.runs import Result, Run, Setting

Names = Annotated[str | None, typer.Option(metavar="A,B", help="Algorithms; by default all that keep the promise.")]
CONSTRAINTS = ("privacy_constraints", "utility_constraints")
OF_RECORDS = ("records", "quasi_identifiers", "hierarchies", "domains")
SOURCES_READ = ("taxonomy", "records", "hierarchies", "domains", "sensitive", *CONSTRAINTS)
OPTIONS = ("taxonomy", *OF_RECORDS, "sensitive", *CONSTRAINTS, "max_suppression")


@with_flags("id", "item", *READING, *OPTIONS, "h", "p", "l", "item_supports", *WORKLOAD, "threads")
def compare(
    source: Source,
    algorithms: Names = None,
    transactions: Transactions = None,
    model: Annotated[
        str | None, typer.Option(help="Promises, side by side (default km).", metavar="A,B", rich_help_panel=PROMISE)
    ] = None,
    k: Annotated[str, typer.Option(help="Values of k.", metavar="K,K")] = "5",
    m: Annotated[str, typer.Option(help="Values of m: integers, or inf.", metavar="M,M")] = "2",
    delta: Annotated[str | None, typer.Option(help="Values of delta, for kkm and klm.", metavar="D,D")] = None,
    option: OptionPairs = None,
    workload: AskedWorkload = None,
    time_limit: Annotated[float, typer.Option(help="Time limit of each run, in seconds.", min=0.1)] = 600.0,
    memory_limit: MemoryOfRun = "4GB",
    threads: int | None = None,
    again: Annotated[bool, typer.Option("--again", help="Repeat the runs whose results are in the ledger.")] = False,
    report: Annotated[str | None, typer.Option(help="Write a page with plots.", metavar="FILE.html")] = None,
    csv: Annotated[str | None, typer.Option(help="Write the results as CSV.", metavar="FILE.csv")] = None,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Compare promises, algorithms and parameters on the same data and questions; each run is a process with limits on time
    and memory, once with and once without item supports where these may be published."""
    from anondb.compare.limits import parse_size
    from anondb.compare.runs import run_all
    from anondb.reading.formats import is_data_file

    parse_size(memory_limit)
    values = flag_values(flags)
    lists: dict[str, list[Any]] = {
        "k": [_whole("k", x) for x in _listed(k)],
        "m": _listed(m),
        **({"delta": _listed(delta)} if delta else {}),
    }
    planned, options = _planned(values, algorithms, model, lists, option)
    _check_file(source)
    check_targets(source, report, csv)
    limits = {"threads": threads, "memory_limit": memory_limit, "time_limit": time_limit}
    setting = _setting(source, values, workload, limits, planned)
    setting, facts = _read(setting, transactions, options)
    ledger = _Ledger(None if is_data_file(source) else source)
    with progress() as say:
        known = {} if again else ledger.stored()
        results = run_all(setting, planned, known, ledger.keep, say or (lambda words: None))
    _write(results, setting, facts, report, csv, as_json)
    if not any(r.status == "done" for r in results):
        infeasible = all(r.status == "infeasible" for r in results)
        raise typer.Exit(InfeasibleError.exit_code if infeasible else EngineError.exit_code)


def _planned(
    values: dict[str, Any],
    algorithms: str | None,
    model: str | None,
    lists: dict[str, list[Any]],
    option: list[str] | None,
) -> tuple[list[Run], dict[str, Any]]:
    """The runs, and the options that all of them get."""
    from anondb.compare.runs import plan

    options = {name: values[name] for name in OPTIONS if name in values} | pairs(option or ())
    grid = lists | {name: [values[name]] for name in ("h", "p", "l") if name in values}
    planned = plan(_listed(algorithms or ""), _listed(model or "km"), grid, options, values.get("item_supports"))
    _check_used(planned, [*options, *(["delta"] if "delta" in grid else [])])
    return planned, options


def _setting(
    source: str, values: dict[str, Any], workload: str | None, limits: dict[str, Any], planned: list[Run]
) -> Setting:
    """What all runs share. Attackers know as many items as the strongest promise says."""
    from anondb.compare.runs import Setting
    from anondb.policy import Workload
    from anondb.risk.attack import KNOWN

    asked = {name: values[name] for name in WORKLOAD}
    Workload(**asked)  # checks them
    log = workload if workload is not None and workload.lower().endswith(".sql") else None
    asked |= {"workload": None if log else workload, "log": log}
    reading = {name: values[name] for name in READING if name in values}
    numbers = [
        run.parameters[name] for run in planned for name in ("m", "p") if isinstance(run.parameters.get(name), int)
    ]
    asked |= {"id": values["id"], "item": values["item"], "known": max(numbers, default=KNOWN)}
    return Setting(source, None, **asked, **limits, fingerprint="", reading=reading)


def _write(
    results: list[Result], setting: Setting, facts: dict[str, Any], report: str | None, csv: str | None, as_json: bool
) -> None:
    """Write the page and the CSV, and print the results."""
    from anondb.compare.merits import recommended
    from anondb.compare.report import write_report
    from anondb.compare.results import write_csv

    if csv is not None:
        write_csv(csv, results)
    if report is not None:
        write_report(report, results, setting, facts)
    if as_json:
        advice = recommended([r for r in results if r.status == "done"])
        best = [{"run": r.run.name, **asdict(r.run), "reason": why} for r, why in advice]
        print_json({**facts, "runs": [r.to_json() for r in results], "recommended": best, "report": report, "csv": csv})
    else:
        _print(results)


def _listed(text: str) -> list[str]:
    """The parts of a comma-separated list."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise InputError(f"{name} must be integers with commas between, not {text[:40]!r}.", code="bad_parameter")
    return int(text)


def _check_used(runs: list[Run], options: list[str]) -> None:
    """Raise an ``InputError`` for an option that no run takes."""
    for option in options:
        if option != "taxonomy" and not any(option in run.options for run in runs):
            raise InputError(f"{option} applies to none of these algorithms.", code="bad_usage", hint="Leave it out.")


def _check_file(source: str) -> None:
    """Refuse a database of PostgreSQL: each run is a process that reads the source anew."""
    from anondb.engine.elsewhere import is_url

    if is_url(source):
        raise InputError(
            "Comparisons read a DuckDB file or a data file.",
            code="bad_usage",
            hint="Export the table to Parquet first.",
        )


def _read(setting: Setting, table: str | None, options: dict[str, Any]) -> tuple[Setting, dict[str, Any]]:
    """Read the source once, to refuse bad data before any run and to compute the fingerprint of the results."""
    from anondb.compare.results import digest
    from anondb.data.sources import open_source
    from anondb.data.taxonomy import load_taxonomy
    from anondb.data.transactions import fingerprint, load_transactions

    with opened(setting.source, read_only=True, threads=setting.threads) as database:
        engine = database.engine
        place = transactions_of(database, setting.source, table, setting.id, setting.item, setting.reading)
        with engine.transaction():
            with open_source(engine, place, "transactions") as source:
                dataset = load_transactions(engine, source, id_column=setting.id, item_column=setting.item)
            if "taxonomy" in options:
                load_taxonomy(engine, options["taxonomy"]).leaf_nodes(dataset)
            named = {name: options.get(name) for name in SOURCES_READ}
            named |= {"workload": setting.workload or setting.log}
            if "quasi_identifiers" in options and named["records"] is None:  # columns of the transactions
                named["records"] = str(as_read(place).data)
            others = [digest(engine, text, name.replace("_", " ")) for name, text in named.items() if text is not None]
            data = "-".join([fingerprint(engine, dataset), *others])
    facts = {"source": dataset.table, "transactions": dataset.n_transactions, "items": dataset.n_items}
    facts |= {"occurrences": dataset.n_occurrences, "longest": dataset.longest}
    named = as_read(place).data
    table = table if isinstance(named, Path) else str(named)
    return replace(setting, transactions=table, fingerprint=data), facts


class _Ledger:
    """The results in the owner's file, which is opened for each of them because the runs read it in between. A data file
    has no ledger: its comparisons cannot resume."""

    def __init__(self, source: str | None) -> None:
        self._source = source

    def stored(self) -> dict[str, Result]:
        from anondb.compare.results import stored_results

        if self._source is None:
            return {}
        with opened(self._source, read_only=True) as database:
            return stored_results(database.engine)

    def keep(self, key: str, result: Result) -> None:
        from anondb.compare.results import keep

        if self._source is not None:
            with opened(self._source) as database:
                keep(database.engine, key, result)


_CAPTION = (
    "Errors: median / mean of |truth - estimate| / truth, and the number of COUNT queries; 'answer 0' is the error of "
    "answering 0 to all.\nSuppressed: items, and their share of the occurrences; a release answers 0 for deleted items.\n"
    "Alone, chance: of persons whose items (and released attributes) an attacker knows, the number with one\n"
    "candidate, and the mean of 1 / candidates. NCP is that of the attributes where the release has some."
)
_DIFFERENT = "\nThe runs answered different queries: do not compare their errors and bounds."


def _errors(result: Result) -> list[str]:
    """The errors, their baseline, and what was suppressed."""
    from anondb.compare.merits import frequent_queries, share_suppressed

    if result.status != "done":
        return ["-"] * 6
    errors, frequent = result.figures["relative_error"], frequent_queries(result)
    measured = result.figures["queries"] - result.figures["skipped"]
    return [
        f"{figure(errors['median_frequent'])} / {figure(errors['mean_frequent'])} ({frequent:,})",
        f"{figure(errors['median'])} / {figure(errors['mean'])} ({measured:,})",
        *(figure(errors[n]) for n in ("always_zero", "median_truth")),
        figure(result.figures["bounds_width"]),
        f"{result.figures['suppressed_items']:,} ({100 * share_suppressed(result):.3g} %)",
    ]


def _risks(result: Result) -> list[str]:
    """What attackers find: the persons who are alone, and the mean chance of a guess."""
    risk = result.figures.get("risk")
    return ["-", "-"] if risk is None else [f"{risk['after']['alone']:,}", figure(risk["after"]["chance"])]


def _print(results: list[Result]) -> None:
    from rich.console import Console
    from rich.table import Table

    from anondb.compare.merits import asked_the_same, name_of, recommended

    same = asked_the_same([r for r in results if r.status == "done"])
    table = Table(box=None, caption=_CAPTION + ("" if same else _DIFFERENT), caption_justify="left")
    errors = ("error where truth >= k", "error over all", "answer 0", "median truth", "bounds' width", "suppressed")
    names = (*errors, "alone", "chance", "NCP", "LM", "released", "seconds", "CPU s", "MiB")
    table.add_column("run")
    table.add_column("promise")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("outcome", overflow="fold")
    for r in results:
        promise = f"{r.run.model}, " + ", ".join(f"{n}={v}" for n, v in r.run.parameters.items())
        values = [
            *_errors(r),
            *_risks(r),
            *(figure(r.figures.get(n)) for n in ("ncp", "lm")),
            str(r.figures.get("released_items", "-")),
        ]
        costs = [f"{r.seconds:.2f}", f"{r.cpu_seconds:.2f}", f"{r.peak_mib:.0f}"]
        outcome = r.status if r.message is None else f"{r.status}: {r.message}"
        table.add_row(*map(shown, (r.run.name, promise, *values, *costs, outcome)))
    Console(width=None if Console().is_terminal else 200).print(table)
    for result, why in recommended([r for r in results if r.status == "done"]):
        typer.echo(plain(f"recommended: {name_of(result)}: {why}"))
    refused = [tuple(one.values()) for r in results for one in r.figures.get("refused", ())]
    for number, reason in dict.fromkeys(refused):
        typer.echo(plain(f"note: statement {number} of the log is not answered: {reason}"), err=True)
