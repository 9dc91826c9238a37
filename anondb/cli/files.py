"""Commands around files: load, publish, releases and keys."""

from typing import Annotated, Any

import typer

from anondb.cli.app import ExistingRelease, Json, Quiet, ShowSql, Source, asked_on_terminal, opened
from anondb.cli.flags import flag_values, with_flags
from anondb.cli.words import print_digests, print_grid, print_json
from anondb.options import PUBLICATION
from anondb.pages.text import plain
from anondb.pipeline.report_rows import figure
from anondb.reading.account import read_json
from anondb.reading.options import READING


@with_flags(*READING, "replace")
def load(
    database: Annotated[str, typer.Argument(help="The DuckDB file; created if it does not exist.", metavar="DB")],
    transactions: Annotated[str | None, typer.Option(help="Transactions to load.", metavar="FILE")] = None,
    as_table: Annotated[
        str | None, typer.Option("--as", help="Table for the transactions; by default transactions.", metavar="TABLE")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Column of persons in the files.", metavar="COL")] = None,
    item: Annotated[str | None, typer.Option(help="Column of items in the transactions.", metavar="COL")] = None,
    id_as: Annotated[
        str | None, typer.Option(help="The column of --id in the tables; by default tid.", metavar="COL")
    ] = None,
    item_as: Annotated[
        str | None, typer.Option(help="The column of --item in the table; by default item.", metavar="COL")
    ] = None,
    taxonomy: Annotated[str | None, typer.Option(help="Taxonomy to load.", metavar="FILE")] = None,
    taxonomy_as: Annotated[
        str | None, typer.Option(help="Table (node, parent, ord) for the taxonomy; by default taxonomy.", metavar="TABLE")
    ] = None,
    records: Annotated[str | None, typer.Option(help="Relational records to load.", metavar="FILE")] = None,
    records_as: Annotated[
        str | None, typer.Option(help="Table for the records; by default records.", metavar="TABLE")
    ] = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
    **flags: Any,
) -> None:
    """Load files into tables of a DuckDB file; every row is accounted for."""
    from anondb.api.connect import new_file

    values = flag_values(flags)
    files: dict[str, Any] = {"transactions": transactions, "taxonomy": taxonomy, "records": records}
    called: dict[str, Any] = {"transactions_as": as_table, "taxonomy_as": taxonomy_as, "records_as": records_as}
    called |= {"id": id, "item": item, "id_as": id_as, "item_as": item_as}
    with new_file(database), opened(database, show_sql=show_sql, create=True) as target:
        loaded = target.load(**files, **called, **values)
    if as_json:
        print_json({"tables": [t.to_json() for t in loaded], **read_json([t.account for t in loaded])})
    else:
        for t in loaded:
            typer.echo(f"{t.table}: {t.rows} rows" + (f" ({t.note})" if t.note else ""))
            typer.echo(f"  read {plain(t.account.words)}")


@with_flags(*PUBLICATION, "modelled_rows", "accept", "replace", "log_file")
def publish(
    source: Source,
    release: ExistingRelease,
    to: Annotated[
        str, typer.Option("--to", help="The new file or folder, or postgresql://HOST/DATABASE/SCHEMA.", metavar="FILE|URL")
    ],
    include_constraints: Annotated[
        bool, typer.Option("--include-constraints", help="The proof may show your privacy constraints.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    show_sql: ShowSql = False,
    **flags: Any,
) -> None:
    """Seal a release into a new DuckDB file that holds nothing else, a folder of Parquet, or a schema of PostgreSQL."""
    from anondb.publications.history import notes

    options = flag_values(flags)
    log_file = options.pop("log_file", None)
    with opened(source, show_sql=show_sql, quiet=quiet, log_file=log_file, command="publish") as database:
        database.engine.on_finding = None if quiet or as_json else asked_on_terminal()
        file = database.release(release).publish(to, include_constraints=include_constraints, **options)
    if as_json:
        print_json(
            {
                "release": release,
                "published": str(file.path),
                "transactions": file.transactions,
                "bytes": file.size,
                "sha256": file.sha256,
                "content_digest": file.content_digest,
                "proof": None if file.proof is None else str(file.proof),
                "intersections": [i.to_json() for i in file.intersections],
                "remarks": list(file.remarks),
            }
        )
        return
    if quiet:
        return
    typer.echo(f"{release} is sealed in {file.path} ({file.transactions} transactions, {file.size / 2**20:.1f} MiB)")
    print_digests(file.sha256, file.content_digest)
    if file.proof is not None:
        typer.echo(f"its proof is in {file.proof}")
    for note in (*notes(file.intersections), *file.remarks):
        typer.echo(f"note: {plain(note)}", err=True)


def releases(source: Source, as_json: Json = False) -> None:
    """List the releases of a database, including dropped ones."""
    with opened(source, read_only=True) as database:
        entries, kept = database.releases(), not database.engine.one_shot
        gone = database.publications()
    if as_json:
        released = [
            {
                **{column: _plain(getattr(e, column)) for column in e.row},
                "publications": [{**vars(p), "published": str(p.published)} for p in gone if p.release_id == e.release_id],
            }
            for e in entries
        ]
        print_json({"releases": released})
        return
    if not entries:
        typer.echo("no releases" if kept else "no releases: a run over files keeps no ledger", err=True)
        return
    from anondb.models.named import parameters_of

    rows = []
    for e in entries:
        parameters = ", ".join(f"{n} = {e.parameters[n]}" for n in parameters_of(e.model) if n in e.parameters)
        promise = f"{e.model}, {parameters}, by {e.algorithm}"
        created = f"{e.created:%Y-%m-%d %H:%M}"
        status = e.status + (", published" if any(p.release_id == e.release_id for p in gone) else "")
        rows.append((e.name, promise, e.source_table, f"{e.transactions:,}", figure(e.lm), created, e.user_name, status))
    print_grid(("release", "promise", "source", "persons", "LM", "made (UTC)", "by", "status"), rows, (3, 4))


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | dict) else str(value)


keys = typer.Typer(name="keys", help="Make keys that sign releases.", no_args_is_help=True, rich_markup_mode=None)


@keys.callback()
def _keys_group() -> None:
    """Make keys that sign releases."""


@keys.command()
def new(
    name: Annotated[str, typer.Argument(help="Writes NAME.key and NAME.pub.", metavar="NAME")] = "anondb",
    as_json: Json = False,
) -> None:
    """Make a key of Ed25519: NAME.key, which signs, for you alone, and NAME.pub, which readers trust."""
    from anondb.release.signing import new_keys

    private, public, text = new_keys(name)
    if as_json:
        print_json({"private": str(private), "public": str(public), "key": text})
        return
    typer.echo(text)
    typer.echo(f"{private} signs: keep it, and show it to nobody. Announce the line above, or {public}.", err=True)
