"""The command that runs several algorithms side by side: compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli import app
from anondb.cli.flags import flag_values, pairs, with_flags
from anondb.cli.words import print_json, shown
from anondb.errors import EngineError, InfeasibleError, InputError
from anondb.models import PROMISE
from anondb.options import WORKLOAD
from anondb.pages.text import plain
from anondb.pipeline.report_rows import figure
from anondb.reading.options import READING

if TYPE_CHECKING:
    from anondb.compare.comparison import Comparison
    from anondb.compare.runs import Result

Names = Annotated[str | None, typer.Option(metavar="A,B", help="Algorithms; by default all that keep the promise.")]
_DELTA = "For kkm, klm: how much of the attributes' detail is given up for that of the items, 0 to 1."
OF_RECORDS = ("records", "quasi_identifiers", "hierarchies", "domains")
OPTIONS = ("taxonomy", *OF_RECORDS, "sensitive", "privacy_constraints", "utility_constraints", "max_suppression")


@with_flags("id", "item", *READING, *OPTIONS, "h", "p", "l", "item_supports", *WORKLOAD, "threads")
def compare(
    source: app.Source,
    algorithms: Names = None,
    transactions: app.Transactions = None,
    model: Annotated[
        str | None, typer.Option(help="Promises, side by side (default km).", metavar="A,B", rich_help_panel=PROMISE)
    ] = None,
    k: Annotated[str, typer.Option(help="Values of k.", metavar="K,K")] = "5",
    m: Annotated[str, typer.Option(help="Values of m: integers, or inf.", metavar="M,M")] = "2",
    delta: Annotated[str | None, typer.Option(help=_DELTA, metavar="D,D")] = None,
    option: app.OptionPairs = None,
    workload: app.AskedWorkload = None,
    time_limit: Annotated[float, typer.Option(help="Time limit of each run, in seconds.", min=0.1)] = 600.0,
    total_limit: Annotated[float | None, typer.Option(help="Time limit of all runs, in seconds.", min=1)] = None,
    memory_limit: app.MemoryOfRun = "4GB",
    threads: int | None = None,
    again: Annotated[bool, typer.Option("--again", help="Repeat the runs whose results are in the ledger.")] = False,
    report: Annotated[str | None, typer.Option(help="Write a page with plots.", metavar="FILE.html")] = None,
    csv: Annotated[str | None, typer.Option(help="Write the results as CSV.", metavar="FILE.csv")] = None,
    as_json: app.Json = False,
    **flags: Any,
) -> None:
    """Compare promises, algorithms and parameters on the same data and questions; each run is a process with limits on time
    and memory, once with and once without item supports where these may be published."""
    values = flag_values(flags)
    app.check_targets(source, report, csv)
    lists: dict[str, list[Any]] = {"k": [_whole("k", x) for x in _listed(k)], "m": _listed(m)}
    lists |= {"delta": _listed(delta)} if delta else {}
    options = {**values, **pairs(option or ()), **lists}
    with app.opened(source, threads=threads) as database:
        rows = app.transactions_of(database, source, transactions, values["id"], values["item"])
        comparison = database.compare(
            rows,
            algorithms=_listed(algorithms or ""),
            model=_listed(model or "km"),
            workload=workload,
            time_limit=time_limit,
            total_limit=total_limit,
            memory_limit=memory_limit,
            threads=threads,
            **options,
            again=again,
        )
    if csv is not None:
        comparison.csv(csv)
    if report is not None:
        comparison.report(report)
    if as_json:
        print_json({**comparison.to_json(), "report": report, "csv": csv})
    else:
        _print(comparison)
    if not comparison.done:
        infeasible = all(r.status == "infeasible" for r in comparison.runs)
        raise typer.Exit(InfeasibleError.exit_code if infeasible else EngineError.exit_code)


def _listed(text: str) -> list[str]:
    """The parts of a comma-separated list."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise InputError(f"{name} must be integers with commas between, not {text[:40]!r}.", code="bad_parameter")
    return int(text)


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


def _print(comparison: Comparison) -> None:
    from rich.console import Console
    from rich.table import Table

    from anondb.compare.merits import MEANINGS, asked_the_same, name_of, terms

    own = "".join(f"\n{name}: {words}." for name, words in terms(comparison.runs).items() if name not in MEANINGS)
    caption = _CAPTION + own + ("" if asked_the_same(comparison.done) else _DIFFERENT)
    table = Table(box=None, caption=caption, caption_justify="left")
    errors = ("error where truth >= k", "error over all", "answer 0", "median truth", "bounds' width", "suppressed")
    names = (*errors, "alone", "chance", "NCP", "LM", "released", "seconds", "CPU s", "MiB")
    table.add_column("run")
    table.add_column("promise")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("outcome", overflow="fold")
    for r in comparison.runs:
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
    for result, why in comparison.recommended:
        typer.echo(plain(f"recommended: {name_of(result)}: {why}"))
    for number, reason in comparison.unanswered.items():
        typer.echo(plain(f"note: statement {number} of the log is not answered: {reason}"), err=True)
