"""Print results: JSON on one line, or tables with control characters escaped."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

from anondb.pages.text import plain
from anondb.pipeline.report_rows import figure

if TYPE_CHECKING:
    from anondb.pipeline.reports import Report
    from anondb.session.output import Count
    from anondb.session.result import Result
    from anondb.verify import Verification

BOUNDS = ("lower bound", "estimate", "upper bound")
FIRST_QUESTION = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'"


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


def shown(text: str) -> str:
    """Escape a text for a table of rich: control and format characters, and brackets."""
    from rich.markup import escape

    return escape(plain(text))


def print_table(title: str, rows: list[tuple[str, Any]]) -> None:
    """Print a table of names and values."""
    print_grid((), [(name, str(value)) for name, value in rows], title=title)


def print_grid(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Collection[int] = (),
    title: str | None = None,
    width: int | None = None,
) -> None:
    """Print a table, with some columns on the right; what is too wide is folded. Without a head, it has no line of names."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, title_justify="left", title_style="bold", show_header=bool(head))
    for i, name in enumerate(head):
        table.add_column(shown(name), overflow="fold", justify="right" if i in right else "left")
    for row in rows:
        table.add_row(*map(shown, row))
    Console(width=width).print(table)


def print_digests(sha256: str, content_digest: str) -> None:
    """Print the digests of a sealed file, one per line: a table would cut them."""
    typer.echo(f"sha256 {sha256}")
    typer.echo(content_digest)


def print_report(report: Report, kept: bool) -> None:
    """Print the owner's report on a release."""
    rows: list[tuple[str, Any]] = [*report.rows()]
    if report.published:
        rows.append(("published", report.published))
    elif not kept:
        rows.append(("published", "no: a run over files keeps nothing but what --publish writes"))
    print_table(f"release {shown(report.release)}", rows)
    if report.sha256 is not None and report.content_digest is not None:
        print_digests(report.sha256, report.content_digest)
    for warning in report.warnings:
        typer.echo(plain(f"note: {warning}"), err=True)


def print_story(story: Any) -> None:
    """Print the demo: what was made, answers with item supports beside the truth, then without, and the owner's report."""
    without, supported = story.plain, story.supported
    report = supported.report
    typer.echo(
        f"A shop of {report.transactions:,} customers and {report.items:,} products was anonymized. Somebody who knows "
        f"{report.model.m} products\nof a customer cannot narrow the customer down to fewer than {report.model.k}. "
        "The published file answers:\n"
    )
    title = "How many customers bought all of these?"
    _print_beside_truth(title, "products", [(", ".join(a.items), a) for a in supported.answers])
    typer.echo("\nThe truth is always between the two bounds; the estimate is the best guess.\n")
    title = "milk, from the same rows without and with item supports"
    _print_beside_truth(title, "release", [(r.report.release, r.answers[0]) for r in (without, supported)])
    measured = [r.report.accuracy.to_json() for r in (without, supported)]
    first, second = (figure(m["relative_error"]["median_frequent"]) for m in measured)
    typer.echo(
        f"\nOf {measured[0]['frequent']['queries']:,} random pairs of products that {report.model.k} or more customers "
        f"bought, the median error\nof the estimate is {first} times the truth without item supports, "
        f"{second} times with them.\n"
    )
    print_table(f"The owner's report on {report.release} (docs/glossary.md explains the words)", report.rows())
    typer.echo(f"\nThe shop is in {story.database}, the sealed releases are {without.sealed} and {supported.sealed}.")
    typer.echo("Both are of the same persons: give readers only one of them. Ask one yourself:")
    typer.echo(f'  anondb query {supported.sealed} "{FIRST_QUESTION}"')


def _print_beside_truth(title: str, first: str, rows: Sequence[tuple[str, Any]]) -> None:
    """Print answers of the demo, each with its name, beside the truth."""
    cells = [(name, str(a.truth), str(a.lower_bound), f"{a.estimate:.1f}", str(a.upper_bound)) for name, a in rows]
    print_grid((first, "truth", *BOUNDS), cells, range(1, 5), title)


def print_count(count: Count) -> None:
    """Print all groups of one count, each with its bounds; notes go to stderr."""
    rows = [
        tuple("NULL" if cell is None else str(cell) for cell in (*groups, lower, f"{estimate:.1f}", upper))
        for *groups, lower, estimate, upper in count.rows
    ]
    _print_cells((*count.columns, *BOUNDS), rows, [False] * len(count.columns) + [True] * len(BOUNDS))
    _print_notes(count.notes)


def print_rows(result: Result) -> None:
    """Print the rows of a session's result; its notes go to stderr."""
    _print_cells(result.columns, [tuple(_cell(v) for v in row) for row in result.fetchall()], result.numbers)
    _print_notes(result.notes)


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        typer.echo(plain(f"note: {note}"), err=True)


def _print_cells(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    """Print a table, with some columns on the right; rich, which takes a while to import, only folds what is too wide."""
    cells = [[plain(cell) for cell in row] for row in (names, *rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    if sys.stdout.isatty() and sum(widths) + 2 * len(widths) > get_terminal_size().columns:
        return print_grid(names, rows, [i for i, of_right in enumerate(right) if of_right])
    for row in cells:
        filled = [
            " " * (width - _width(cell)) + cell if of_right else cell + " " * (width - _width(cell))
            for cell, width, of_right in zip(row, widths, right, strict=True)
        ]
        typer.secho(f" {'  '.join(filled)} ", bold=row is cells[0])


def _width(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cell(value: Any) -> str:
    """A value of a table: estimates with a digit behind the point, small ones with four digits."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
    return "NULL" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def print_result(result: Any) -> None:
    """Print the result of a statement of a script: a table, or a sentence on stderr if it has no rows."""
    if result.view is not None and result.kind not in ("show", "describe"):
        print_view(result.view)
    elif result.columns:
        rows = [["NULL" if v is None else str(v) for v in row] for row in result.rows]
        print_grid(result.columns, rows, width=None if sys.stdout.isatty() else 10_000)


def print_view(result: Any) -> None:
    """Print what was done with anonymized views: a sentence for each, or the lines of a statement, and notes on stderr."""
    for line in result.words.split("\n") if result.kind in ("statement", "refresh all") else [result.words]:
        typer.echo(plain(line))
    for note in result.notes:
        typer.echo(plain(f"note: {note}"), err=True)


def print_items(words: str, items: Sequence[str], *, err: bool = False) -> None:
    """Print items as JSON texts, one per line."""
    for item in items:
        typer.echo(f"  {words}\t{json.dumps(item, ensure_ascii=False)}", err=err)


def print_witnesses(verification: Verification) -> None:
    """Print the violations, one per line: the support, and the items as JSON texts."""
    for witness in verification.witnesses:
        items = "\t".join(json.dumps(i, ensure_ascii=False) for i in witness.items)
        typer.echo(f"  {witness.support}\t{items or '(no item)'}")
