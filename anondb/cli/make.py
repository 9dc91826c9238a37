"""Commands that make releases: anonymize and demo."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import (
    AllowOverlap,
    Draw,
    EmptyValues,
    H,
    IdColumn,
    ItemColumn,
    Json,
    K,
    L,
    M,
    MemoryLimit,
    ModelName,
    P,
    PrivacyConstraints,
    Queries,
    ReleaseName,
    Replace,
    Seed,
    Sensitive,
    ShowSql,
    Size,
    Source,
    Threads,
    Transactions,
    given,
    model_from,
    opened,
    progress,
    transactions_of,
)
from anondb.cli.words import print_answers, print_items, print_json, print_report, sql_list
from anondb.errors import InputError

if TYPE_CHECKING:
    from anondb.database import Database


@contextlib.contextmanager
def _listing(
    database: Database, witnesses: int, transactions: Any, taxonomy: str | None, id: str, item: str
) -> Iterator[None]:
    """If items are no leaves of the taxonomy, show as many of them as the owner asked for beside the error."""
    try:
        yield
    except InputError as error:
        if witnesses and taxonomy is not None and error.code in ("unknown_item", "internal_item"):
            items = database.unknown_items(transactions, taxonomy, id=id, item=item)
            print_items("not a leaf of the taxonomy", items[:witnesses], err=True)
        raise


def anonymize(
    source: Source,
    transactions: Transactions = None,
    id: IdColumn = "tid",
    item: ItemColumn = "item",
    taxonomy: Annotated[str | None, typer.Option(help="Taxonomy of the items.", metavar="TABLE|FILE")] = None,
    records: Annotated[
        str | None, typer.Option(help="Table with the same id column; ids only there have no items.", metavar="TABLE")
    ] = None,
    model: ModelName = None,
    k: K = None,
    m: M = None,
    l: L = None,
    h: H = None,
    p: P = None,
    sensitive: Sensitive = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="km: mhghs (default with a taxonomy), coat (default without), hghs, apriori, lra, vpa, pcta, mm; hkp: mm; "
            "k: partition (default), clump; kkm and klm: rum_bound_rt (default), rum_bound_r|t, tum_bound_r|t|rt, rfirst, "
            "tfirst; anatomy: multi_anatomy.",
            metavar="NAME",
        ),
    ] = None,
    quasi_identifiers: Annotated[
        str | None,
        typer.Option(
            help="For kkm and klm: the columns of the records that attackers may know; all others are left out.",
            metavar="A,B[:numeric|date|categorical]",
        ),
    ] = None,
    hierarchies: Annotated[
        str | None,
        typer.Option(
            help="Of categorical columns: (attribute, node, parent), or NAME.tree files.", metavar="TABLE|DIR"
        ),
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="Bound of rum_bound_* and tum_bound_*, 0 to 1 (default 0.65).", metavar="NUMBER")
    ] = None,
    infeasible: Annotated[
        str | None,
        typer.Option(
            help="Clusters of records that generalizing items does not help (default suppress).",
            metavar="suppress|merge|error",
        ),
    ] = None,
    values: Annotated[
        int | None,
        typer.Option(help="For kkm and klm: relational values of a random query, beside --size items (default 1)."),
    ] = None,
    privacy_constraints: PrivacyConstraints = None,
    utility_constraints: Annotated[
        str | None,
        typer.Option(
            help="For coat: groups of items (group_id, item), or from the taxonomy: level:2, siblings:5.",
            metavar="TABLE|FILE|level:N|siblings:N",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="For coat: weights of items (item, weight). For kkm and klm: of quasi-identifiers (attribute, weight).",
            metavar="TABLE|FILE|taxonomy|1",
        ),
    ] = None,
    domains: Annotated[
        str | None,
        typer.Option(
            help="For kkm and klm: domains of quasi-identifiers (attribute, low, high).", metavar="TABLE|FILE"
        ),
    ] = None,
    countable: Annotated[
        str | None,
        typer.Option(help="For coat: sets of items whose counts must stay exact (set_id, item).", metavar="TABLE|FILE"),
    ] = None,
    literal: Annotated[bool, typer.Option("--literal", help="For coat: follow the printed algorithm.")] = False,
    empty_transactions: Annotated[
        str | None,
        typer.Option(
            help="For k: make few transactions without items a class by emptying others, or leave them.",
            metavar="absorb|keep",
        ),
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(help="For clump: evaluate only so many clusters for a transaction.", metavar="R")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="For clump: the cluster's loss or its growth.", metavar="total|increase")
    ] = None,
    bag_input: Annotated[
        bool, typer.Option("--bag-input", help="For clump: repeated rows of a transaction count.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(help="For anatomy: how many columns, or your own (column_id, item).", metavar="N|TABLE|FILE"),
    ] = None,
    empty_values: EmptyValues = None,
    correlation: Annotated[
        str | None, typer.Option(help="For anatomy: how items are compared.", metavar="truncated|full")
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="For anatomy: spread frequent values evenly; buckets get smaller.")
    ] = False,
    max_suppression: Annotated[
        str | None, typer.Option(help="Percent of the items that may be suppressed.", metavar="PERCENT")
    ] = None,
    release: ReleaseName = None,
    publish: Annotated[str | None, typer.Option(help="Also seal the release into this file.", metavar="FILE")] = None,
    allow_overlap: AllowOverlap = False,
    replace: Replace = False,
    queries: Queries = 1000,
    size: Size = 2,
    seed: Seed = 0,
    draw: Draw = "all",
    workload: Annotated[str | None, typer.Option(help="Your own queries.", metavar="TABLE|FILE")] = None,
    witnesses: Annotated[
        int, typer.Option(help="Show up to this many items that the taxonomy lacks, on stderr.", min=0)
    ] = 0,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Load, anonymize, verify, measure and freeze a release; --publish also seals it into a file."""
    with (
        opened(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit, last=True) as database,
        contextlib.ExitStack() as listing,
    ):
        rows = transactions_of(database, source, transactions, id, item)
        listing.enter_context(_listing(database, witnesses, rows, taxonomy, id, item))
        made = database.anonymize(
            rows,
            model=model_from(model, k=k, m=m, l=l, h=h, p=p),
            name=release,
            queries=queries,
            size=size,
            seed=seed,
            draw=draw,
            workload=workload,
            replace=replace,
            publish=publish,
            allow_overlap=allow_overlap,
            id=id,
            item=item,
            **given(
                taxonomy=taxonomy,
                records=records,
                quasi_identifiers=quasi_identifiers,
                hierarchies=hierarchies,
                delta=delta,
                infeasible=infeasible,
                values=values,
                algorithm=algorithm,
                privacy_constraints=privacy_constraints,
                utility_constraints=utility_constraints,
                weights=weights,
                domains=domains,
                countable=countable,
                literal=literal,
                sensitive=sensitive,
                columns=int(columns) if columns is not None and columns.isdecimal() else columns,
                empty_values=empty_values,
                correlation=correlation,
                spread=spread,
                empty_transactions=empty_transactions,
                candidates=candidates,
                objective=objective,
                bag_input=bag_input,
                max_suppression=max_suppression,
            ),
        )
        report = made.report
        kept = not database.engine.one_shot
    if report is None:
        return
    if as_json:
        print_json(report.to_json())
    else:
        print_report(report, kept)


def demo(
    directory: Annotated[Path, typer.Argument(help="Where to make the shop.", metavar="[DIR]")] = Path("anondb-demo"),
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Make a small shop, anonymize and publish it, and show analyst queries beside the truth."""
    from anondb.demo import run_demo

    with progress() as say:
        story = run_demo(
            directory,
            on_statement=(lambda text: typer.echo(text + ";", err=True)) if show_sql else None,
            on_progress=say,
        )
    if as_json:
        print_json(story.to_json())
        return
    print_report(story.report, kept=True)
    print_answers(story.answers)
    typer.echo(f"\nThe shop is in {story.database}, the sealed release in {story.sealed}.")
    typer.echo("Open the release with any DuckDB client and ask it yourself:")
    typer.echo(f"  FROM count_bounds({sql_list(story.answers[0].items)});")
