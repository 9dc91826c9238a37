"""The command that checks a promise: verify."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli import app
from anondb.cli.flags import LIMITS, MODEL_PARAMETERS, flag_values, taken, with_flags
from anondb.cli.words import print_items, print_json, print_table, print_witnesses, shown
from anondb.errors import InputError, VerificationFailed
from anondb.pages.text import plain
from anondb.pipeline.report_rows import figure
from anondb.reading.options import READING

if TYPE_CHECKING:
    from anondb.api.database import Database
    from anondb.models import Model
    from anondb.publications.sealed import SealedCheck
    from anondb.reading.account import Account
    from anondb.verify import Verification


KNOWLEDGE = ("privacy_constraints", "sensitive")
RECORDS = ("records", "quasi_identifiers")


@with_flags("id", "item", *READING, *MODEL_PARAMETERS, "empty_values", *KNOWLEDGE, *RECORDS, *LIMITS)
def verify(
    source: app.Source,
    transactions: app.Transactions = None,
    model: app.ModelName = None,
    buckets: Annotated[
        str | None, typer.Option(help="For anatomy: table (bucket_id, column_id, items, copies).", metavar="TABLE|FILE")
    ] = None,
    release: app.ReleaseName = None,
    bag_input: Annotated[
        bool, typer.Option("--bag-input", help="For the model k: repeated rows of a transaction count.")
    ] = False,
    against_source: Annotated[
        bool, typer.Option("--against-source", help="Check the release's recoding on its current source.")
    ] = False,
    expect: Annotated[
        str | None,
        typer.Option(help="For a sealed file: the digest that its publisher gave you.", metavar="SHA256|content:..."),
    ] = None,
    published_in: Annotated[
        str | None,
        typer.Option(help="For a sealed file: the owner's database, whose ledger lists the publications.", metavar="DB"),
    ] = None,
    trusted: app.Trusted = None,
    witnesses: Annotated[int, typer.Option(help="Show up to this many violations.", min=0)] = 0,
    on_engine: Annotated[
        bool, typer.Option("--on-engine", help="Check a table inside PostgreSQL, without fetching it (km and k).")
    ] = False,
    as_json: app.Json = False,
    show_sql: app.ShowSql = False,
    **flags: Any,
) -> None:
    """Check any table, buckets, a release (--release NAME), a sealed file or a folder of them; exit 4 if a promise fails."""
    values = flag_values(flags)
    parameters = taken(values, (*MODEL_PARAMETERS, "empty_values"))
    promised = partial(app.model_from, model or (None if buckets is None else "anatomy"), **parameters)
    connection = {"show_sql": show_sql, **taken(values, LIMITS)}
    of_file = {"expect": expect, "published_in": published_in, "trusted": trusted}
    alone = not (transactions or buckets or release or against_source)
    sealed = alone and _is_release(source)
    of_rows = {"bag_input": bag_input, "on_engine": on_engine, **taken(values, RECORDS)}
    _check_usage(source, release is not None or against_source, transactions, buckets, promised(), of_rows)
    if not sealed and any(value is not None for value in of_file.values()):
        raise InputError("--expect, --published-in and --trusted need a sealed file.", code="bad_usage")
    knowledge = {"witnesses": witnesses, **taken(values, KNOWLEDGE)}
    checked: Verification | SealedCheck
    accounts: Sequence[Account] = ()
    if sealed and of_rows.keys() & RECORDS:
        raise InputError("A sealed file contains its records.", code="bad_usage", hint="Name only the file.")
    if sealed and app.is_folder(source):
        return _verify_folder(source, promised, {**of_file, **knowledge}, connection, as_json)
    if sealed:
        checked = _verify_file(source, promised, {**of_file, **knowledge}, connection)
    elif against_source:
        return _verify_source(source, release, promised, witnesses, connection, as_json)
    elif release is not None:
        checked = _verify_release(source, release, promised, knowledge, connection)
    else:
        options = {**values, **of_rows, **knowledge}
        checked, accounts = _verify_data(source, transactions, buckets, promised(), options, connection)
    _print(checked, witnesses, as_json, accounts)


def _is_release(source: str) -> bool:
    """Whether a source is a sealed file, a folder of Parquet files or a schema of PostgreSQL, or a folder of releases."""
    from anondb.engine.elsewhere import is_url
    from anondb.reading.formats import is_data_file
    from anondb.release.paths import is_parquet_release
    from anondb.release.reader import is_sealed
    from anondb.warehouse.postgres.place import place_of

    if is_url(source):
        return place_of(source).schema is not None
    if app.is_folder(source) or is_parquet_release(source):
        return True
    return not is_data_file(source) and is_sealed(source)


def table_to_check(source: str, id_column: str, item_column: str) -> str:
    """The only base table of a file that has both columns; the search runs no code of the file, which may be untrusted.
    Raises InputError: ``no_transactions``: several tables, or none; or the only one is a view or has computed columns:
    reading it would run its author's code, so the user must name it."""
    from anondb.data.sources import tables_with
    from anondb.release.catalog import listed
    from anondb.release.reader import locked_engine

    engine, schema, _ = locked_engine(source)
    try:
        tables = tables_with(engine, schema.catalog, id_column, item_column)
        objects = listed(engine, schema.catalog)
    finally:
        engine.close()
    nothing = (" GENERATED ", "")
    computed = [t for t in tables if " GENERATED " in objects.get((t.schema, "table", t.name), nothing)[0]]
    if len(tables) != 1 or computed:
        raise InputError(
            f"{len(tables)} tables and views have the columns {id_column!r} and {item_column!r};"
            f" {len(computed)} of them are views or compute columns.",
            code="no_transactions",
            hint="Name the transactions with --transactions TABLE (and --id, --item).",
        )
    table = tables[0].expression()
    table.set("catalog", None)
    return table.sql(dialect="duckdb")


def _check_usage(
    source: str, of_release: bool, transactions: str | None, buckets: str | None, model: Model, of_rows: Mapping[str, Any]
) -> None:
    """Refuse flags that exclude each other."""
    from anondb.engine.elsewhere import warehouse_at

    if transactions is not None and of_release:
        raise InputError("--transactions and --release exclude each other.", code="bad_usage", hint="Give one of them.")
    if buckets is not None and (of_release or model.name != "anatomy"):
        raise InputError("--buckets needs --model anatomy, and excludes --release.", code="bad_usage")
    if of_rows["bag_input"] and of_release:
        raise InputError("--bag-input needs --transactions.", code="bad_usage")
    if of_rows.keys() & RECORDS and (of_release or buckets is not None):
        raise InputError("--records and --quasi-identifiers need --transactions.", code="bad_usage")
    named = transactions is not None or warehouse_at(source) is not None
    if of_rows["on_engine"] and (not named or buckets is not None):
        raise InputError("--on-engine needs --transactions.", code="bad_usage")


def _print(checked: Verification | SealedCheck, witnesses: int, as_json: bool, accounts: Sequence[Account]) -> None:
    """Print a verification, the identity of a sealed file and what was read of others; exit 4 if the promise or a comparison
    fails."""
    from anondb.publications.sealed import SealedCheck
    from anondb.reading.account import read_json

    verification = checked.verification if isinstance(checked, SealedCheck) else checked
    if as_json:
        print_json(checked.to_json(witnesses=witnesses > 0) | (read_json(accounts) if accounts else {}))
    else:
        for line in (*(f"read {plain(account.words)}" for account in accounts), *_lines(checked)):
            typer.echo(line)
        print_witnesses(verification)
    if not (checked.holds if isinstance(checked, SealedCheck) else checked.verified):
        raise typer.Exit(VerificationFailed.exit_code)


def _lines(checked: Verification | SealedCheck) -> Iterator[str]:
    """A verification and, of a sealed file, what analysts ask of it, its signer and its identity, in lines."""
    from anondb.publications.sealed import SealedCheck
    from anondb.verify.anatomy import AnatomyVerification

    sealed = checked if isinstance(checked, SealedCheck) else None
    verification = checked.verification if isinstance(checked, SealedCheck) else checked
    promise = verification.model.promise
    fails = f"does not hold, {verification.all_violations} violations"
    yield f"{promise}: {'holds' if verification.verified else fails}"
    if isinstance(verification, AnatomyVerification):
        yield f"coverage of the original transactions: {verification.coverage}"
    if verification.across_levels is not None and not verification.verified:
        yield f"by labels: {verification.violations} violations; across levels of the taxonomy: {verification.across_levels}"
    if verification.item_supports is not None:
        yield f"item supports: {verification.item_supports} violations"
    if sealed is None:
        return
    if sealed.modelled_rows is not None:
        yield f"modelled rows: {'as drawn again' if sealed.modelled_rows else 'not those of this release'}"
    tables = (f"{_name(t)} ({', '.join(f'{_name(n)} {kind}' for n, kind in c.items())})" for t, c in sealed.tables.items())
    yield plain(f"tables for analysts: {', '.join(tables)}")
    if sealed.signed_by is not None:
        yield f"signed by {sealed.signed_by}, which is trusted"
    if sealed.compared:
        yield from (f"sha256 {sealed.sha256}", sealed.content_digest)
    if sealed.expected is not None:
        yield f"expected digest: {'the same' if sealed.expected else 'ANOTHER: this is not the file you expect'}"
    if sealed.asked:
        of, none = sealed.published_as, "NOT published there"
        yield "owner's ledger: " + (none if of is None else f"published as {of.name!r} on {of.published:%Y-%m-%d}")


def _name(name: str) -> str:
    """A name as SQL has it, in quotes where it needs them."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else '"{}"'.format(name.replace('"', '""'))


def _verify_folder(
    folder: str, promised: Callable[[Model], Model], options: dict[str, Any], connection: dict[str, Any], as_json: bool
) -> None:
    """Verify each sealed file of a folder; digests and, as text, witnesses are asked of one file."""
    if options["expect"] is not None or (options["witnesses"] and not as_json):
        raise InputError(
            "--expect and --witnesses are of one file.", code="bad_usage", hint="Name the file; --json has witnesses of all."
        )

    def each(file: str) -> app.Checked:
        checked = _verify_file(file, promised, options, connection)
        return checked.to_json(witnesses=options["witnesses"] > 0), list(_lines(checked)), checked.holds

    app.check_each(folder, each, as_json)


def _verify_file(
    source: str, promised: Callable[[Model], Model], options: dict[str, Any], connection: dict[str, Any]
) -> SealedCheck:
    from anondb.publications.sealed import verify_file

    settings = dict(connection)
    shown = app.shown_statements(settings.pop("show_sql"))
    return verify_file(source, promised, **options, **settings, on_statement=shown)


def _verify_data(
    source: str,
    transactions: str | None,
    buckets: str | None,
    model: Model,
    options: dict[str, Any],
    connection: dict[str, Any],
) -> tuple[Verification, Sequence[Account]]:
    """Verify transactions or, for an anatomy, buckets; also return what was read of files. On the engine this makes tables,
    which read-only connections refuse."""
    from anondb.engine.elsewhere import is_url
    from anondb.reading.formats import is_data_file

    reading, id, item = taken(options, READING), options["id"], options["item"]
    if transactions is None and buckets is None and is_url(source):
        raise InputError("Say what to verify: --transactions TABLE or --release NAME.", code="bad_usage")
    of_buckets = model.name == "anatomy"
    if transactions is None and not of_buckets and not is_data_file(source):
        transactions = table_to_check(source, id, item)
    with (
        app.opened(source, read_only=not options["on_engine"], **connection) as database,
        database.engine.accounting() as accounts,
    ):
        if of_buckets:
            checked = database.verify(
                transactions, buckets=app.buckets_of(database, source, buckets), model=model, **options
            )
        else:
            where = app.transactions_of(database, source, transactions, id, item, reading)
            checked = database.verify(where, model=model, **options)
    return checked, accounts


def _verify_release(
    source: str, release: str, promised: Callable[[Model], Model], knowledge: dict[str, Any], connection: dict[str, Any]
) -> Verification:
    """``verify --release``, on a locked connection because the file may be untrusted."""
    from anondb.api.database import Database
    from anondb.publications.sealed import files_among

    files = files_among(*(knowledge.get(name) for name in KNOWLEDGE))
    with app.locked(source, files=files, **connection) as engine:
        database = Database(engine)
        model = _promise_of(database, release, promised)
        return database.verify(release=release, model=model, **knowledge)


def _promise_of(database: Database, release: str, promised: Callable[[Model], Model]) -> Model:
    """The promise to check: that of a release, with what the user says of it."""
    from anondb.models.named import model_of

    return promised(model_of(database.release(release).manifest))


def _verify_source(
    source: str,
    release: str | None,
    promised: Callable[[Model], Model],
    witnesses: int,
    connection: dict[str, Any],
    as_json: bool,
) -> None:
    """``verify --against-source``: check the current data under the recoding of a release."""
    if release is None:
        raise InputError("--against-source needs --release NAME.", code="bad_usage")
    with app.opened(source, read_only=True, **connection) as database:
        model = _promise_of(database, release, promised)
        check = database.check_view(release, model=model, witnesses=witnesses)
    if as_json:
        print_json(check.to_json(witnesses=witnesses > 0))
    else:
        verification = check.verification
        holds = "holds" if verification.verified else f"does not hold, {verification.violations:,} violations"
        rows = [
            ("release", "of this source" if check.is_of_source else "NOT of this source: make it anew, or refresh it"),
            ("promise", holds if check.is_of_source else f"{holds} for the current data under the release's recoding"),
            ("data", "unchanged" if check.fresh else "changed since the release was made"),
            *(("file", words) for words in dict.fromkeys(f.words for f in (check.source_file, check.records_file) if f)),
            ("transactions", f"{check.transactions:,}"),
            ("without a released item", f"{check.not_covered_items:,} of {check.items:,} items"),
            ("suppression", "within the policy's limit" if check.within_limit else "beyond the policy's limit"),
            ("information loss", f"LM {figure(check.loss.lm)}, NCP {figure(check.loss.ncp)}"),
        ]
        if verification.item_supports is not None:
            differ = f"{verification.item_supports:,} differ from those of the source"
            rows.append(("item supports", differ if verification.item_supports else "those of the source"))
        print_table(f"{shown(release)} on its current source", rows)
        print_witnesses(verification)
        print_items("without a released item", check.not_covered)
    if not (check.holds and check.is_of_source):
        raise typer.Exit(VerificationFailed.exit_code)
