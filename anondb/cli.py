"""The command line: arguments in, a pipeline call, words out.

stdout holds data, stderr progress and messages. Heavy modules are imported by the commands that use them, so that help is
quick.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.exceptions import TyperException

from anondb import __version__
from anondb.errors import AnondbError, InputError, InternalError, VerificationFailed

if TYPE_CHECKING:
    from anondb.database import Database
    from anondb.models import Model
    from anondb.pipeline import Report

app = typer.Typer(
    name="anondb",
    help="Anonymized releases of person-level transactions, computed in DuckDB and queried in SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

PLANNED_COMMANDS = ("inspect", "attack", "compare")

Source = Annotated[str, typer.Argument(help="A DuckDB file, or a data file (.dat, .csv, .parquet) for a one-shot run.")]
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object.")]
ShowSql = Annotated[bool, typer.Option("--show-sql", help="Print every SQL statement to stderr.")]
Transactions = Annotated[str | None, typer.Option(help="Table or view of the transactions.", metavar="TABLE")]
IdColumn = Annotated[str, typer.Option("--id", help="Column that identifies a person.", metavar="COL")]
ItemColumn = Annotated[str, typer.Option("--item", help="Column of items; a LIST column is accepted.", metavar="COL")]
ModelName = Annotated[str, typer.Option("--model", help="The promise: km (k^m-anonymity).", metavar="NAME")]
K = Annotated[int, typer.Option(help="Every known combination leaves at least k candidates.")]
M = Annotated[str, typer.Option(help="How many items an attacker may know: an integer, or inf.")]
Threads = Annotated[int | None, typer.Option(help="Threads of the engine.")]
MemoryLimit = Annotated[str | None, typer.Option(help="Memory limit of the engine, such as 2GB.", metavar="SIZE")]
ReleaseName = Annotated[str | None, typer.Option("--release", help="Name of the release.", metavar="NAME")]
Queries = Annotated[int, typer.Option(help="Random COUNT queries that measure accuracy.")]
Size = Annotated[int, typer.Option(help="Items of each random query.")]
Seed = Annotated[int, typer.Option(help="Seed of the random queries.")]
Draw = Annotated[
    str, typer.Option(help="Draw queries from all items, or from generalized ones.", metavar="all|generalized")
]
Replace = Annotated[bool, typer.Option("--replace", help="Let what exists under this name give way.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anondb {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Anonymized releases of person-level transactions, computed in DuckDB and queried in SQL."""


@contextlib.contextmanager
def _database(
    source: str,
    *,
    show_sql: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    create: bool = False,
) -> Iterator[Database]:
    """The database of a SOURCE: the DuckDB file, or memory for a data file; progress on stderr if it is a terminal."""
    from anondb.data.sources import is_file
    from anondb.database import connect

    one_shot = is_file(source)
    if (one_shot and not Path(source).is_file()) or (not one_shot and not create and not Path(source).is_file()):
        raise InputError(f"The file {Path(source).name!r} does not exist.", code="no_such_file", hint="Check the path.")
    with _progress() as say:
        database = connect(
            ":memory:" if one_shot else source,
            threads=threads,
            memory_limit=memory_limit,
            read_only=read_only and not one_shot,
            one_shot=one_shot,
            on_statement=(lambda text: typer.echo(text + ";", err=True)) if show_sql else None,
            on_progress=say,
        )
        with database:
            yield database


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("opening") as status:
        yield lambda words: status.update(words)


def _only_table(database: Database, id_column: str, item_column: str) -> str:
    """The one table that has both columns, where the user named none."""
    from anondb.pipeline import tables_with

    found = tables_with(database.engine, id_column, item_column)
    if len(found) != 1:
        raise InputError(
            f"{len(found)} tables have the columns {id_column!r} and {item_column!r}.",
            code="no_transactions",
            hint="Name the transactions with --transactions TABLE (and --id, --item).",
        )
    return found[0].sql()


def _transactions(database: Database, source: str, table: str | None, id_column: str, item_column: str) -> Any:
    from anondb.data.sources import is_file

    if is_file(source):
        if table is not None:
            raise InputError("--transactions goes with a DuckDB file.", code="bad_usage", hint="Leave it out.")
        return Path(source)
    return table if table is not None else _only_table(database, id_column, item_column)


@app.command()
def anonymize(
    source: Source,
    transactions: Transactions = None,
    id: IdColumn = "tid",
    item: ItemColumn = "item",
    taxonomy: Annotated[str | None, typer.Option(help="Taxonomy of the items.", metavar="TABLE|FILE")] = None,
    records: Annotated[
        str | None, typer.Option(help="Table with the same id column; ids only there have no items.", metavar="TABLE")
    ] = None,
    model: ModelName = "km",
    k: K = 5,
    m: M = "2",
    algorithm: Annotated[
        str | None,
        typer.Option(help="mhghs (default with a taxonomy), hghs, or coat (default without).", metavar="NAME"),
    ] = None,
    utility_constraints: Annotated[
        str | None, typer.Option(help="For coat: groups of items (group_id, item).", metavar="TABLE|FILE")
    ] = None,
    literal: Annotated[bool, typer.Option("--literal", help="For coat: follow the printed algorithm.")] = False,
    max_suppression: Annotated[
        str | None, typer.Option(help="Percent of the items that may be suppressed.", metavar="PERCENT")
    ] = None,
    release: ReleaseName = None,
    publish: Annotated[str | None, typer.Option(help="Also seal the release into this file.", metavar="FILE")] = None,
    replace: Replace = False,
    queries: Queries = 1000,
    size: Size = 2,
    seed: Seed = 0,
    draw: Draw = "all",
    workload: Annotated[str | None, typer.Option(help="Your own queries.", metavar="TABLE|FILE")] = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Load, anonymize, verify, measure and freeze a release; --publish also seals it into a file."""
    from anondb.policy import make_model

    with _database(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit) as database:
        made = database.anonymize(
            _transactions(database, source, transactions, id, item),
            model=make_model(model, k=k, m=m),
            taxonomy=taxonomy,
            name=release,
            algorithm=algorithm,
            utility_constraints=utility_constraints,
            literal=literal,
            id=id,
            item=item,
            records=records,
            max_suppression=max_suppression,
            queries=queries,
            size=size,
            seed=seed,
            draw=draw,
            workload=workload,
            replace=replace,
            publish=publish,
        )
        report = made.report
        kept = not database.engine.one_shot
    if report is None:
        return
    if as_json:
        _print_json(report.to_json())
    else:
        _print_report(report, kept)


@app.command()
def verify(
    source: Source,
    transactions: Transactions = None,
    id: IdColumn = "tid",
    item: ItemColumn = "item",
    model: ModelName = "km",
    k: Annotated[int | None, typer.Option(help="k (default 5; a release's own for a release).")] = None,
    m: Annotated[str | None, typer.Option(help="m (default 2; a release's own for a release).")] = None,
    release: ReleaseName = None,
    against_source: Annotated[
        bool, typer.Option("--against-source", help="Check the release's recoding on its source as it is now.")
    ] = False,
    witnesses: Annotated[int, typer.Option(help="Show up to this many violations.", min=0)] = 0,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Check any table, a release (--release NAME) or a sealed file; exit 4 if the promise does not hold."""
    from anondb import pipeline
    from anondb.policy import make_model
    from anondb.release.objects import read_manifest

    def promised(own: Model) -> Model:
        """The model asked for; what is not said is that of ``own``."""
        return make_model(model, k=own.k if k is None else k, m=own.m if m is None else m)

    default = promised(make_model(model))
    if transactions is not None and (release is not None or against_source):
        raise InputError(
            "--transactions and --release each say what to check.", code="bad_usage", hint="Give one of them."
        )
    if against_source:
        _verify_source(source, release, promised, witnesses, as_json, show_sql, threads, memory_limit)
        return
    with _database(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit, read_only=True) as database:
        sealed = None if transactions or release else pipeline.sealed_schema(database.engine)
        if sealed is not None:
            own = pipeline.model_of(read_manifest(database.engine, sealed))
            found = pipeline.verify_sealed(database.engine, sealed, promised(own), witnesses)
        elif release is not None:
            own = pipeline.model_of(database.release(release).manifest)
            found = database.verify(release=release, model=promised(own), witnesses=witnesses)
        else:
            where = _transactions(database, source, transactions, id, item)
            found = database.verify(where, model=default, id=id, item=item, witnesses=witnesses)
    if as_json:
        _print_json(found.to_json(witnesses=witnesses > 0))
    else:
        promise = f"{found.model.k}^{found.model.parameters()['m']}-anonymity"
        typer.echo(
            f"{promise}: holds" if found.verified else f"{promise}: does not hold, {found.violations} violations"
        )
        for witness in found.witnesses:
            typer.echo(f"  {witness.support}\t" + "\t".join(json.dumps(i, ensure_ascii=False) for i in witness.items))
    if not found.verified:
        raise typer.Exit(VerificationFailed.exit_code)


def _verify_source(
    source: str,
    release: str | None,
    promised: Callable[[Model], Model],
    witnesses: int,
    as_json: bool,
    show_sql: bool,
    threads: int | None,
    memory_limit: str | None,
) -> None:
    """``verify --against-source``: today's data under the recoding of a release."""
    from anondb import pipeline

    if release is None:
        raise InputError("--against-source goes with --release NAME.", code="bad_usage")
    with _database(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit, read_only=True) as database:
        model = promised(pipeline.model_of(database.release(release).manifest))
        found = database.check_view(release, model=model, witnesses=witnesses)
    if as_json:
        _print_json(found.to_json(witnesses=witnesses > 0))
    else:
        checked = found.verification
        rows = [
            ("promise", "holds" if checked.verified else f"does not hold, {checked.violations:,} violations"),
            ("data", "unchanged" if found.fresh else "changed since the release was made"),
            ("transactions", f"{found.transactions:,}"),
            ("without a released item", f"{found.not_covered_items:,} of {found.items:,} items"),
            ("suppression", "within the policy's limit" if found.within_limit else "beyond the policy's limit"),
            ("information loss", f"LM {_figure(found.loss.lm)}, NCP {_figure(found.loss.ncp)}"),
        ]
        _print_table(f"{_shown(release)} on its source as it is now", rows)
        for witness in checked.witnesses:
            typer.echo(f"  {witness.support}\t" + "\t".join(json.dumps(i, ensure_ascii=False) for i in witness.items))
    if not found.holds:
        raise typer.Exit(VerificationFailed.exit_code)


@app.command()
def run(
    source: Source,
    file: Annotated[str, typer.Argument(help="SQL, with anondb's own statements; - reads stdin.", metavar="FILE.sql")],
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Run SQL: ordinary statements, and CREATE, REFRESH, DROP and SHOW for anonymized views."""
    from anondb.data.files import load_files
    from anondb.data.sources import is_file

    text = _read_sql(file)
    results = []
    with _database(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit) as database:
        if is_file(source):
            load_files(database.engine, {"transactions": (source, Path(source).stem)})
        for result in database.run(text):
            results.append(result)
            if not as_json:
                _print_result(result)
        _check_no_transaction(database)
    if as_json:
        _print_json({"results": [r.to_json() for r in results]})


def _check_no_transaction(database: Database) -> None:
    """Refuse a script that leaves its transaction open: closing the database undoes it."""
    try:
        with database.engine.transaction():
            pass
    except InputError as error:
        if error.code != "transaction_open":
            raise
        raise InputError(
            "The script leaves a transaction open, so what it did there is undone.",
            code="transaction_open",
            hint="End it with COMMIT or ROLLBACK.",
        ) from None


def _read_sql(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The file {Path(file).name!r} is not valid UTF-8.", code="bad_unicode") from None
    except (OSError, ValueError):
        raise InputError(f"The file {Path(file).name!r} cannot be read.", code="no_such_file") from None


@app.command()
def explain(
    source: Source,
    release: Annotated[str, typer.Option("--release", help="Name of the release.", metavar="NAME")],
    item: Annotated[str, typer.Option("--item", help="The item.", metavar="X")],
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Say why an item looks as it does in a release: the steps, the violating support, and what was chosen."""
    with _database(source, show_sql=show_sql, read_only=True) as database:
        found = database.explain(release, item)
    if as_json:
        _print_json(found.to_json())
        return
    if found.path:
        typer.echo(_plain(" > ".join(found.path)))
    for number, step in enumerate(found.steps, 1):
        typer.echo(_plain(f"  {number}. round {step.round_number}, step {step.step}: {step.words}"))
    typer.echo(_plain(found.conclusion))


@app.command()
def query(
    file: Annotated[
        str, typer.Argument(help="A sealed release, or a DuckDB file with --release NAME.", metavar="FILE")
    ],
    sql: Annotated[str, typer.Argument(help="A COUNT query, written for the original table.", metavar="SQL")],
    release: ReleaseName = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Answer a COUNT query, written for the original table, from a release: lower bound, estimate, upper bound."""
    from anondb import pipeline

    with _database(file, show_sql=show_sql, read_only=True) as database:
        sealed = None if release else pipeline.sealed_schema(database.engine)
        if release is None and sealed is None:
            raise InputError(
                "The file is not a sealed release.",
                code="not_a_release",
                hint="Name a release of it with --release NAME.",
            )
        answer = pipeline.answer(database.engine, sealed or pipeline.find_release(database.engine, str(release)), sql)
    if as_json:
        _print_json(answer.to_json())
    else:
        _print_answer(answer)


@app.command()
def accuracy(
    source: Source,
    release: Annotated[str, typer.Option("--release", help="Name of the release.", metavar="NAME")],
    workload: Annotated[
        str | None,
        typer.Option(help="Your own queries: (query_id, item), or a .sql log of COUNT queries.", metavar="TABLE|FILE"),
    ] = None,
    queries: Queries = 1000,
    size: Size = 2,
    seed: Seed = 0,
    draw: Draw = "all",
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Measure COUNT queries on a release against its source; answers go to anondb.accuracy, which is the owner's."""
    if workload is not None and workload.lower().endswith(".sql"):
        _accuracy_of_log(source, release, workload, as_json, show_sql)
        return
    with _database(source, show_sql=show_sql) as database:
        found = database.release(release).measure(workload, queries=queries, size=size, seed=seed, draw=draw)
    if as_json:
        _print_json({"release": release, "accuracy": found.to_json()})
    else:
        _print_table(
            f"accuracy of {release}",
            [
                ("queries", found.queries),
                ("items in each", found.size or "as given"),
                ("average relative error", _figure(found.average_relative_error)),
                ("skipped (true count 0)", found.skipped),
            ],
        )


def _accuracy_of_log(source: str, release: str, workload: str, as_json: bool, show_sql: bool) -> None:
    """``accuracy --workload FILE.sql``: a log of real analyst queries."""
    from anondb.statements.log import measure_log

    with _database(source, show_sql=show_sql) as database:
        found = measure_log(database.engine, release, workload)
    if as_json:
        _print_json({"release": release, "accuracy": found.to_json()})
        return
    _print_table(
        f"accuracy of {_shown(release)} on {_shown(Path(workload).name)}",
        [
            ("counts", len(found.counts)),
            ("average relative error", _figure(found.average_relative_error)),
            ("skipped (true count 0)", found.skipped),
            ("groups that the release cannot list", found.unlisted),
            ("statements refused", len(found.refused)),
        ],
    )
    for number, reason in found.refused:
        typer.echo(_plain(f"note: statement {number}: {reason}"), err=True)


@app.command()
def publish(
    source: Source,
    release: Annotated[str, typer.Option("--release", help="Name of the release.", metavar="NAME")],
    to: Annotated[str, typer.Option("--to", help="The new file.", metavar="FILE")],
    replace: Replace = False,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Seal a release into a DuckDB file of its own, which holds nothing else."""
    with _database(source, show_sql=show_sql) as database:
        file = database.release(release).publish(to, replace=replace)
    if as_json:
        _print_json(
            {"release": release, "published": str(file.path), "transactions": file.transactions, "bytes": file.size}
        )
    else:
        typer.echo(
            f"{release} is sealed in {file.path} ({file.transactions} transactions, {file.size / 2**20:.1f} MiB)"
        )


@app.command()
def releases(source: Source, as_json: Json = False) -> None:
    """List the releases of a database, dropped ones too."""
    with _database(source, read_only=True) as database:
        entries = database.releases()
    if as_json:
        _print_json({"releases": [{**e.texts(), **_numbers(e)} for e in entries]})
        return
    if not entries:
        typer.echo("no releases", err=True)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in ("release", "promise", "source", "persons", "LM", "made (UTC)", "by", "status"):
        table.add_column(name, justify="right" if name in ("persons", "LM") else "left", overflow="fold")
    for e in entries:
        promise = f"{e.parameters.get('k')}^{e.parameters.get('m')} {e.algorithm}"
        made = f"{e.created:%Y-%m-%d %H:%M}"
        cells = (e.name, promise, e.source_table, f"{e.transactions:,}", _figure(e.lm), made, e.user_name, e.status)
        table.add_row(*map(_shown, cells))
    Console().print(table)


@app.command()
def load(
    database: Annotated[str, typer.Argument(help="The DuckDB file; made if it does not exist.", metavar="DB")],
    transactions: Annotated[str | None, typer.Option(help="Transactions to load.", metavar="FILE")] = None,
    as_table: Annotated[
        str, typer.Option("--as", help="Table for the transactions.", metavar="TABLE")
    ] = "transactions",
    taxonomy: Annotated[str | None, typer.Option(help="Taxonomy to load.", metavar="FILE")] = None,
    taxonomy_as: Annotated[
        str, typer.Option(help="Table (node, parent, ord) for the taxonomy.", metavar="TABLE")
    ] = "taxonomy",
    records: Annotated[str | None, typer.Option(help="Relational records to load.", metavar="FILE")] = None,
    records_as: Annotated[str, typer.Option(help="Table for the records.", metavar="TABLE")] = "records",
    replace: Replace = False,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Load files into tables of a DuckDB file."""
    from anondb.data.files import load_files
    from anondb.data.sources import is_file

    if is_file(database) or database in ("", ":memory:"):
        raise InputError("Files are loaded into a DuckDB file.", code="bad_usage", hint="Name it, as in shop.duckdb.")
    if transactions is None and taxonomy is None and records is None:
        raise InputError(
            "There is nothing to load.", code="bad_usage", hint="Name --transactions, --taxonomy or --records."
        )
    wanted = {
        "transactions": (transactions, as_table),
        "taxonomy": (taxonomy, taxonomy_as),
        "records": (records, records_as),
    }
    existed = os.path.lexists(database)
    try:
        with _database(database, show_sql=show_sql, create=True) as opened:
            files = {what: pair for what, pair in wanted.items() if pair[0]}
            loaded = load_files(opened.engine, files, replace=replace)
    except BaseException:
        if not existed:  # the new database, without any table in it
            for leftover in (database, f"{database}.wal"):
                with contextlib.suppress(OSError, ValueError):
                    os.unlink(leftover)
        raise
    if as_json:
        _print_json({"tables": [{"table": t.table, "rows": t.rows, "note": t.note} for t in loaded]})
    else:
        for t in loaded:
            typer.echo(f"{t.table}: {t.rows} rows" + (f" ({t.note})" if t.note else ""))


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(help="Where to make the shop.", metavar="[DIR]")] = Path("anondb-demo"),
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Make a small shop, anonymize and publish it, and show analyst queries beside the truth."""
    from anondb.demo import run_demo

    with _progress() as say:
        story = run_demo(
            directory,
            on_statement=(lambda text: typer.echo(text + ";", err=True)) if show_sql else None,
            on_progress=say,
        )
    if as_json:
        _print_json(story.to_json())
        return
    _print_report(story.report, kept=True)
    _print_answers(story.answers)
    typer.echo(f"\nThe shop is in {story.database}, the sealed release in {story.sealed}.")
    typer.echo("Open the release with any DuckDB client and ask it yourself:")
    typer.echo(f"  FROM count_bounds({_sql_list(story.answers[0].items)});")


# ---------------------------------------------------------------------- words out


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, default=str))


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _plain(text: str) -> str:
    """Text for a terminal: control and format characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _shown(text: str) -> str:
    """The same for a table of rich's: brackets taken literally too."""
    from rich.markup import escape

    return escape(_plain(text))


def _print_result(result: Any) -> None:
    """The result of a statement of a script: a table, or a sentence on stderr where there is none."""
    if result.view is not None and result.kind != "show":
        typer.echo(_plain(result.view.words))
        return
    if not result.columns:
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in result.columns:
        table.add_column(_shown(name), overflow="fold")
    for row in result.rows:
        table.add_row(*("NULL" if v is None else _shown(str(v)) for v in row))
    Console(width=None if sys.stdout.isatty() else 10_000).print(table)


def _sql_list(items: tuple[str, ...]) -> str:
    return "[" + ", ".join("'" + i.replace("'", "''") + "'" for i in items) + "]"


def _numbers(entry: Any) -> dict[str, Any]:
    return {
        n: getattr(entry, n)
        for n in (
            "transactions",
            "items",
            "released_items",
            "suppressed_items",
            "suppressed_occurrences",
            "lm",
            "ncp",
            "verified",
            "violations",
            "parameters",
        )
    }


def _print_table(title: str, rows: list[tuple[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, show_header=False, title_justify="left", title_style="bold")
    for name, value in rows:
        table.add_row(name, _shown(str(value)))
    Console().print(table)


def _print_report(report: Report, kept: bool) -> None:
    model, loss = report.model.parameters(), report.loss
    rows: list[tuple[str, Any]] = [
        ("promise", f"{model['k']}^{model['m']}-anonymity by {report.algorithm}, verified on the frozen rows"),
        ("transactions", f"{report.transactions:,}"),
        ("items", f"{report.items:,}"),
        ("released items", f"{report.frozen.released_items:,}"),
        (
            "suppressed",
            f"{report.frozen.suppressed_items:,} items, {report.frozen.suppressed_occurrences:,} occurrences",
        ),
        ("information loss", f"LM {_figure(loss.lm)} (total {loss.lm_total}), NCP {_figure(loss.ncp)}"),
        (
            "COUNT queries",
            f"{report.accuracy.queries:,} of {report.accuracy.size or 'various'} items, average relative error "
            f"{_figure(report.accuracy.average_relative_error)}",
        ),
        ("seconds", ", ".join(f"{name} {value:.2f}" for name, value in report.seconds.items() if value)),
    ]
    if report.published:
        rows.append(("published", report.published))
    elif not kept:
        rows.append(("published", "no: a run over files keeps nothing but what --publish writes"))
    _print_table(f"release {_shown(report.release)}", rows)
    for warning in report.warnings:
        typer.echo(f"note: {warning}", err=True)


def _print_answers(answers: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="how many customers bought all of these?", box=None, title_justify="left", title_style="bold")
    table.add_column("items")
    for name in ("truth", "lower bound", "estimate", "upper bound"):
        table.add_column(name, justify="right")
    for a in answers:
        table.add_row(
            _shown(", ".join(a.items)), str(a.truth), str(a.lower_bound), f"{a.estimate:.1f}", str(a.upper_bound)
        )
    Console().print(table)


def _json_error(code: str, message: str, place: dict[str, int] | None = None) -> None:
    if "--json" in sys.argv:
        _print_json({"error": {"code": code, "message": message, **(place or {})}})


def _print_answer(answer: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in answer.columns:
        table.add_column(_shown(name), overflow="fold")
    for name in ("lower bound", "estimate", "upper bound"):
        table.add_column(name, justify="right")
    for *groups, lower, estimate, upper in answer.rows:
        table.add_row(
            *(_shown("NULL" if g is None else str(g)) for g in groups), str(lower), f"{estimate:.1f}", str(upper)
        )
    Console().print(table)
    for note in answer.notes:
        typer.echo(_plain(f"note: {note}"), err=True)


def _fail(error: AnondbError) -> NoReturn:
    _json_error(error.code, str(error), error.place)
    typer.echo(f"anondb: {error}", err=True)
    raise SystemExit(error.exit_code)


def _planned(said: str) -> str | None:
    """What to say of an option or command of the contract that is not there yet."""
    from anondb.policy import OPTIONS

    known = {f"--{name.replace('_', '-')}" for name in OPTIONS} | {"--proof", "--allow-overlap"}
    for word in re.findall(r"[\w-]+", said):
        if (word in known and "No such option" in said) or (word in PLANNED_COMMANDS and "No such command" in said):
            return f"{word} is planned, but not there yet. See anondb --help for what is."
    return None


def main() -> None:
    """Entry point: typed errors become a message and an exit code (design 2.1)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no linear algebra here: its threads only cost start-up time
    try:
        code = app(standalone_mode=False)
    except AnondbError as error:
        _fail(error)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except typer.Exit as done:
        code = done.exit_code
    except TyperException as error:
        planned = _planned(str(error))
        _json_error("bad_usage", planned or str(error))
        show = getattr(error, "show", None)
        if planned is None and show is not None:
            show()
        else:
            typer.echo(f"anondb: {planned or error}", err=True)
        raise SystemExit(2) from None
    except Exception as error:  # a bug; its text and trace may hold data values
        _fail(InternalError(f"An unexpected {type(error).__name__} stopped the command; please report it."))
    if code == 130:  # Typer turns KeyboardInterrupt into this code without a word
        _json_error("interrupted", "interrupted; the step that ran was undone")
        typer.echo("anondb: interrupted; the step that ran was undone", err=True)
    raise SystemExit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
