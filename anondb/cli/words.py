"""Print results: JSON on one line, or tables with control characters escaped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from anondb.owner.accuracy import AnatomyFigures
    from anondb.owner.constraint_report import ConstraintReport
    from anondb.pipeline import Report
    from anondb.session import Result
    from anondb.verify import Verification


def print_json(value: dict[str, Any]) -> None:
    """Print exactly one JSON object to stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, default=str))


def json_error(code: str, message: str, place: dict[str, int] | None = None) -> None:
    """Print an error as a JSON object to stdout if the user asked for JSON."""
    if "--json" in sys.argv:
        print_json({"error": {"code": code, "message": message, **(place or {})}})


def nothing_begun() -> None:
    """Report that Ctrl-C came before any work."""
    json_error("interrupted", "interrupted; nothing had begun")
    typer.echo("anondb: interrupted; nothing had begun", err=True)


def figure(value: float | None) -> str:
    """Format a number with four digits; a dash for None."""
    return "-" if value is None else f"{value:.4g}"


def plain(text: str) -> str:
    """Escape the control and format characters of a text for a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(text: str) -> str:
    """Escape a text for a table of rich: control and format characters, and brackets."""
    from rich.markup import escape

    return escape(plain(text))


def print_table(title: str, rows: list[tuple[str, Any]]) -> None:
    """Print a table of names and values."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, show_header=False, title_justify="left", title_style="bold")
    for name, value in rows:
        table.add_row(name, shown(str(value)))
    Console().print(table)


def print_digests(sha256: str, content_digest: str) -> None:
    """Print the digests of a sealed file, one per line: a table would cut them."""
    typer.echo(f"sha256 {sha256}")
    typer.echo(content_digest)


def print_report(report: Report, kept: bool) -> None:
    """Print the owner's report on a release."""
    rows: list[tuple[str, Any]] = [
        ("promise", f"{report.model.promise} by {report.algorithm}, verified on the frozen rows"),
        ("transactions", f"{report.transactions:,}"),
        ("items", f"{report.items:,}"),
        ("released items", f"{report.frozen.released_items:,}"),
        (
            "suppressed",
            f"{report.frozen.suppressed_items:,} items, {report.frozen.suppressed_occurrences:,} occurrences",
        ),
        *_loss_rows(report),
        *_constraint_rows(report.constraints),
        *_relational_rows(report.relational),
        *accuracy_rows(report.accuracy.to_json()),
        ("seconds", ", ".join(f"{name} {value:.2f}" for name, value in report.seconds.items() if value)),
    ]
    if report.anatomy is not None:
        rows[-1:-1] = _anatomy_rows(report.anatomy)
    if report.published:
        rows.append(("published", report.published))
    elif not kept:
        rows.append(("published", "no: a run over files keeps nothing but what --publish writes"))
    print_table(f"release {shown(report.release)}", rows)
    if report.sha256 is not None and report.content_digest is not None:
        print_digests(report.sha256, report.content_digest)
    for warning in report.warnings:
        typer.echo(plain(f"note: {warning}"), err=True)


def accuracy_rows(accuracy: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows on a workload and its relative errors, from an accuracy's JSON."""
    asked = f"{accuracy['queries']:,} of {accuracy['size'] or 'various'} items"
    return [("COUNT queries", asked + truth_words(accuracy)), *error_rows(accuracy)]


def error_rows(accuracy: dict[str, Any], name: str = "relative error") -> list[tuple[str, str]]:
    """The rows on relative errors: of queries with a truth of at least k, then of all, with the score of the answer 0."""
    errors, frequent = accuracy["relative_error"], accuracy["frequent"]
    if errors["mean"] is None:
        return [(name, "not measured: no query has a truth above 0")]
    words = []
    if frequent is not None and frequent["queries"]:
        number = f"{frequent['queries']:,} {'query' if frequent['queries'] == 1 else 'queries'}"
        least = f"where truth >= {frequent['truth_from']} ({number})"
        words.append(f"median {figure(errors['median_frequent'])}, mean {figure(errors['mean_frequent'])} {least}")
    elif frequent is not None:
        words.append(f"no query has a truth of {frequent['truth_from']} or more")
    zero = f"(always answering 0: {figure(errors['always_zero'])})"
    words.append(f"median {figure(errors['median'])}, mean {figure(errors['mean'])} over all {zero}")
    rows = [(name if i == 0 else "", line) for i, line in enumerate(words)]
    if errors["width"] is not None:
        rows.append(("width of bounds", f"median {figure(errors['width'])} times the truth"))
    return rows


def truth_words(accuracy: dict[str, Any]) -> str:
    """Text on the true counts: the number of skipped queries, and the median truth."""
    truth, skipped = accuracy["relative_error"]["median_truth"], accuracy.get("skipped")
    words = f", {skipped:,} skipped (truth 0)" if skipped else ""
    return words if truth is None else f"{words}; the median truth is {figure(truth)}"


def _loss_rows(report: Report) -> list[tuple[str, str]]:
    """The row on information loss, if the model has one."""
    loss = report.loss
    if report.relational:
        return [("information loss", f"NCP of the records {figure(loss.ncp)}, UL of the items {figure(loss.ul)}")]
    if loss.lm is None:
        return []
    words = f"LM {figure(loss.lm)} (total {loss.lm_total}), NCP {figure(loss.ncp)}"
    words += "" if loss.ggd is None else f", GGD {figure(float(loss.ggd))} (total {loss.ggd})"
    return [("information loss", words if loss.ul_log2 is None else f"{words}, log2 UL {figure(loss.ul_log2)}")]


def _anatomy_rows(figures: AnatomyFigures) -> list[tuple[str, Any]]:
    """The rows on the figures of an anatomy."""
    buckets, rules = figures.buckets, figures.rules
    json_ = buckets.to_json()
    rows = [
        ("buckets", f"{buckets.buckets:,} of {buckets.columns} columns, the largest of {buckets.largest_bucket:,}"),
        (
            "largest posterior",
            f"{json_['largest_posterior']} of a value that counts, {json_['largest_posterior_empty'] or 0} of an empty one",
        ),
        (
            "faked records",
            f"e^{figure(json_['faked_records_ln'])} recombinations, e^{figure(json_['faked_distinct_ln'])} distinct",
        ),
    ]
    if rules is None:
        return [*rows, ("rules", "not mined: mlxtend is not installed")]
    ratio = rules.accuracy_ratio
    words = f"{rules.common:,} of {rules.original:,} kept (AR {figure(None if ratio is None else float(ratio))})"
    return [*rows, ("rules", f"{words}, {rules.reconstructed:,} in a reconstruction")]


def _relational_rows(figures: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The rows on relational records."""
    if figures is None:
        return []
    rows = [
        (
            "clusters",
            f"{figures['clusters']:,}, the largest of {figures['largest_cluster']:,} records; items suppressed in "
            f"{figures['suppressed_clusters']:,}; {figures['merged_clusters']:,} merged with others instead",
        )
    ]
    asked = figures["accuracy"]
    if asked is not None:
        kind = f"{asked['values']} value{'s' * (asked['values'] != 1)} and {asked['items']} items"
        rows.append(("queries of values", f"{asked['queries']} of {kind}{truth_words(asked)}"))
        rows += error_rows(asked)
    return rows


def _constraint_rows(report: ConstraintReport | None) -> list[tuple[str, str]]:
    """The rows on the owner's constraints."""
    if report is None:
        return []
    rows = []
    if report.privacy is not None:
        rows.append(("privacy constraints", str(report.privacy)))
    if report.utility is not None:
        rest = f", and one of the {report.rest:,} other items" if report.rest else ""
        rows.append(("utility constraints", f"{report.utility:,}{rest}, verified on the frozen rows"))
    if report.countable:
        exact = sum(c.exact for c in report.countable)
        rows.append(("countable sets", f"{exact:,} of {len(report.countable):,} exactly"))
    rows += [
        (
            f"  {shown(c.set_id)}",
            f"not exact: of {c.items:,} items {c.suppressed:,} suppressed, {c.mixed:,} together with others",
        )
        for c in report.countable
        if not c.exact
    ]
    return rows


def print_answers(answers: Any) -> None:
    """Print the demo's answers and the truth."""
    title = "how many customers bought all of these?"
    _print_beside_truth(title, "items", [(", ".join(a.items), a) for a in answers])


def print_comparison(without: Any, with_supports: Any) -> None:
    """Print the demo's first answer, and the error of random queries, without and with item supports."""
    title = f"{', '.join(without.answers[0].items)}, without and with item supports"
    _print_beside_truth(title, "release", [(r.report.release, r.answers[0]) for r in (without, with_supports)])
    measured = [r.report.accuracy.to_json() for r in (without, with_supports)]
    first, second = (figure(m["relative_error"]["median"]) for m in measured)
    asked = f"{measured[0]['queries']:,} queries of {measured[0]['size']} items"
    typer.echo(f"median relative error over the {asked}: {first} without, {second} with item supports")


def _print_beside_truth(title: str, first: str, rows: Sequence[tuple[str, Any]]) -> None:
    """Print answers of the demo, each with its name, beside the truth."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, title_justify="left", title_style="bold")
    table.add_column(first)
    for name in ("truth", "lower bound", "estimate", "upper bound"):
        table.add_column(name, justify="right")
    for name, a in rows:
        table.add_row(shown(name), str(a.truth), str(a.lower_bound), f"{a.estimate:.1f}", str(a.upper_bound))
    Console().print(table)


def print_answer(answer: Any) -> None:
    """Print the answer to a COUNT query: one row for each group, with its bounds."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in answer.columns:
        table.add_column(shown(name), overflow="fold")
    for name in ("lower bound", "estimate", "upper bound"):
        table.add_column(name, justify="right")
    for *groups, lower, estimate, upper in answer.rows:
        table.add_row(
            *(shown("NULL" if g is None else str(g)) for g in groups), str(lower), f"{estimate:.1f}", str(upper)
        )
    Console().print(table)
    for note in answer.notes:
        typer.echo(plain(f"note: {note}"), err=True)


def print_rows(result: Result) -> None:
    """Print the rows of a session's result; its notes go to stderr."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name, number in zip(result.columns, result.numbers, strict=True):
        table.add_column(shown(name), overflow="fold", justify="right" if number else "left")
    for row in result.fetchall():
        table.add_row(*(shown(_cell(value)) for value in row))
    Console(width=None if sys.stdout.isatty() else 10_000).print(table)
    for note in result.notes:
        typer.echo(plain(f"note: {note}"), err=True)


def _cell(value: Any) -> str:
    """A value of a table: estimates with a digit behind the point, small ones with four digits."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
    return "NULL" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def print_result(result: Any) -> None:
    """Print the result of a statement of a script: a table, or a sentence on stderr if it has no rows."""
    if result.view is not None and result.kind != "show":
        typer.echo(plain(result.view.words))
        for note in result.view.notes:
            typer.echo(plain(f"note: {note}"), err=True)
        return
    if not result.columns:
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in result.columns:
        table.add_column(shown(name), overflow="fold")
    for row in result.rows:
        table.add_row(*("NULL" if v is None else shown(str(v)) for v in row))
    Console(width=None if sys.stdout.isatty() else 10_000).print(table)


def sql_list(items: tuple[str, ...]) -> str:
    """Items as a SQL list, for copying into a shell."""
    return "[" + ", ".join("'" + i.replace("'", "''") + "'" for i in items) + "]"


def print_items(words: str, items: Sequence[str], *, err: bool = False) -> None:
    """Print items as JSON texts, one per line."""
    for item in items:
        typer.echo(f"  {words}\t{json.dumps(item, ensure_ascii=False)}", err=err)


def print_witnesses(verification: Verification) -> None:
    """Print the violations, one per line: the support, and the items as JSON texts."""
    for witness in verification.witnesses:
        items = "\t".join(json.dumps(i, ensure_ascii=False) for i in witness.items)
        typer.echo(f"  {witness.support}\t{items or '(no item)'}")
