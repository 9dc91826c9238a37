"""The command that checks a promise: verify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import (
    Json,
    MemoryLimit,
    ModelName,
    ReleaseName,
    ShowSql,
    Source,
    Threads,
    Transactions,
    Trusted,
    buckets_of,
    model_from,
    opened,
    shown_statements,
    transactions_of,
)
from anondb.cli.flags import MODEL_PARAMETERS, flag_values, reading_in, with_flags
from anondb.cli.words import print_digests, print_items, print_json, print_table, print_witnesses, shown
from anondb.errors import InputError, VerificationFailed
from anondb.pages.text import plain
from anondb.reading.options import READING
from anondb.report_rows import figure

if TYPE_CHECKING:
    from anondb.models import Model
    from anondb.reading.account import Account
    from anondb.sealed import SealedCheck
    from anondb.verify import Verification


KNOWLEDGE = ("privacy_constraints", "sensitive")
RECORDS = ("records", "quasi_identifiers")


@with_flags("id", "item", *READING, *MODEL_PARAMETERS, "empty_values", *KNOWLEDGE, *RECORDS)
def verify(
    source: Source,
    transactions: Transactions = None,
    model: ModelName = None,
    buckets: Annotated[
        str | None,
        typer.Option(help="For anatomy: table (bucket_id, column_id, items, copies).", metavar="TABLE|FILE"),
    ] = None,
    release: ReleaseName = None,
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
        typer.Option(
            help="For a sealed file: the owner's database, whose ledger lists the publications.", metavar="DB"
        ),
    ] = None,
    trusted: Trusted = None,
    witnesses: Annotated[int, typer.Option(help="Show up to this many violations.", min=0)] = 0,
    on_engine: Annotated[
        bool, typer.Option("--on-engine", help="Check a table inside PostgreSQL, without fetching it (km and k).")
    ] = False,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
    **flags: Any,
) -> None:
    """Check any table, buckets, a release (--release NAME) or a sealed file; exit 4 if the promise does not hold."""
    from anondb.engine.elsewhere import is_url
    from anondb.postgres.place import place_of
    from anondb.reading.formats import is_data_file
    from anondb.release.parquet import is_parquet_release
    from anondb.release.reader import is_sealed
    from anondb.sealed import verify_file

    values = flag_values(flags)
    reading = reading_in(values)
    id, item = values["id"], values["item"]
    parameters = {name: values[name] for name in (*MODEL_PARAMETERS, "empty_values") if name in values}
    promised = _promise(model or (None if buckets is None else "anatomy"), parameters)
    default = promised(None)
    knowledge: dict[str, Any] = {name: values.get(name) for name in KNOWLEDGE}
    records: dict[str, Any] = {name: values.get(name) for name in RECORDS}
    with_records = any(v is not None for v in records.values())
    _check_usage(release is not None or against_source, transactions, buckets, default, bag_input, with_records)
    if on_engine and (transactions is None or buckets is not None):
        raise InputError("--on-engine needs --transactions.", code="bad_usage")
    if against_source:
        _verify_source(source, release, promised, witnesses, as_json, show_sql, threads, memory_limit)
        return
    limits: dict[str, Any] = {"threads": threads, "memory_limit": memory_limit}
    named = transactions or release or buckets or (not is_url(source) and is_data_file(source))
    if not named and (
        place_of(source).schema is not None if is_url(source) else is_parquet_release(source) or is_sealed(source)
    ):
        if with_records:
            raise InputError("A sealed file contains its records.", code="bad_usage", hint="Name only the file.")
        limits |= {"expect": expect, "published_in": published_in, "trusted": trusted}
        limits["on_statement"] = shown_statements(show_sql)
        _print(verify_file(source, promised, witnesses=witnesses, **knowledge, **limits), witnesses, as_json)
        return
    if not named and is_url(source):
        raise InputError("Say what to verify: --transactions TABLE or --release NAME.", code="bad_usage")
    if not named and default.name != "anatomy":
        transactions = table_to_check(source, id, item)
    if any(value is not None for value in (expect, published_in, trusted)):
        raise InputError("--expect, --published-in and --trusted need a sealed file.", code="bad_usage")
    if release is not None:
        checked = _verify_release(source, release, promised, witnesses, knowledge, show_sql, limits)
    else:
        columns = {"id": id, "item": item, "witnesses": witnesses}
        others = {"bag_input": bag_input, "on_engine": on_engine, **knowledge, **records}
        how = (columns, reading, others)
        checked, accounts = _verify_data(source, transactions, buckets, default, how, show_sql, limits)
        _print(checked, witnesses, as_json, accounts)
        return
    _print(checked, witnesses, as_json)


def table_to_check(source: str, id_column: str, item_column: str) -> str:
    """The only base table of a file that has both columns; the search runs no code of the file, which may be untrusted.

    Raises:
        InputError: ``no_transactions``: several tables, or none; or the only one is a view or has computed columns: reading
            it would run its author's code, so the user must name it.
    """
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


def _promise(name: str | None, parameters: dict[str, Any]) -> Callable[[Model | None], Model]:
    """The model that the user asks for; missing parameters come from a default."""
    return lambda default: model_from(name, default, **parameters)


def _check_usage(
    of_release: bool,
    transactions: str | None,
    buckets: str | None,
    model: Model,
    bag_input: bool,
    with_records: bool,
) -> None:
    """Refuse flags that exclude each other."""
    if transactions is not None and of_release:
        raise InputError("--transactions and --release exclude each other.", code="bad_usage", hint="Give one of them.")
    if buckets is not None and (of_release or model.name != "anatomy"):
        raise InputError("--buckets needs --model anatomy, and excludes --release.", code="bad_usage")
    if bag_input and of_release:
        raise InputError("--bag-input needs --transactions.", code="bad_usage")
    if with_records and (of_release or buckets is not None):
        raise InputError("--records and --quasi-identifiers need --transactions.", code="bad_usage")


def _print(
    checked: Verification | SealedCheck, witnesses: int, as_json: bool, accounts: Sequence[Account] | None = None
) -> None:
    """Print a verification, the identity of a sealed file and what was read of others; exit 4 if the promise or a comparison
    fails."""
    from anondb.reading.account import read_json
    from anondb.sealed import SealedCheck
    from anondb.verify.anatomy import AnatomyVerification

    sealed = checked if isinstance(checked, SealedCheck) else None
    verification = checked.verification if isinstance(checked, SealedCheck) else checked
    if as_json:
        print_json(checked.to_json(witnesses=witnesses > 0) | (read_json(accounts) if accounts else {}))
    else:
        for account in accounts or ():
            typer.echo(f"read {plain(account.words)}")
        promise = verification.model.promise
        typer.echo(
            f"{promise}: holds"
            if verification.verified
            else f"{promise}: does not hold, {verification.all_violations} violations"
        )
        if isinstance(verification, AnatomyVerification):
            typer.echo(f"coverage of the original transactions: {verification.coverage}")
        if verification.across_levels is not None and not verification.verified:
            typer.echo(
                f"by labels: {verification.violations} violations;"
                f" across levels of the taxonomy: {verification.across_levels}"
            )
        if verification.item_supports is not None:
            typer.echo(f"item supports: {verification.item_supports} violations")
        if sealed is not None and sealed.modelled_rows is not None:
            typer.echo(f"modelled rows: {'as drawn again' if sealed.modelled_rows else 'not those of this release'}")
        if sealed is not None and sealed.signed_by is not None:
            typer.echo(f"signed by {sealed.signed_by}, which is trusted")
        if sealed is not None and sealed.compared:
            _print_identity(sealed)
        print_witnesses(verification)
    if not (verification.verified if sealed is None else sealed.holds):
        raise typer.Exit(VerificationFailed.exit_code)


def _verify_data(
    source: str,
    transactions: str | None,
    buckets: str | None,
    model: Model,
    how: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
    show_sql: bool,
    limits: dict[str, Any],
) -> tuple[Verification, list[Account]]:
    """Verify transactions or, for an anatomy, buckets; on the engine in tables, which read-only connections refuse.

    Args:
        source, transactions, buckets, model: what is checked against which promise.
        how: the columns, how they are read, and the other options.
        show_sql, limits: settings of the connection.

    Returns:
        The verification, and what was read of each file.
    """
    columns, reading, others = how
    with (
        opened(source, show_sql=show_sql, read_only=not others["on_engine"], **limits) as database,
        database.engine.accounting() as accounts,
    ):
        if model.name == "anatomy":
            where = buckets_of(database, source, buckets)
            return database.verify(transactions, buckets=where, model=model, **columns), accounts
        where = transactions_of(database, source, transactions, columns["id"], columns["item"], reading)
        return database.verify(where, model=model, **columns, **others), accounts


def _verify_release(
    source: str,
    release: str,
    promised: Callable[[Model], Model],
    witnesses: int,
    knowledge: dict[str, Any],
    show_sql: bool,
    limits: dict[str, Any],
) -> Verification:
    """``verify --release``, on a locked connection because the file may be untrusted."""
    from anondb.database import Database
    from anondb.engine.elsewhere import is_url
    from anondb.models.named import model_of
    from anondb.release.reader import locked_engine
    from anondb.sealed import files_among

    if is_url(source):
        with opened(source, show_sql=show_sql, read_only=True, **limits) as database:
            manifest = database.release(release).manifest
            return database.verify(
                release=release, model=promised(model_of(manifest)), witnesses=witnesses, **knowledge
            )
    files = files_among(*knowledge.values())
    engine, schema, _ = locked_engine(source, files=files, on_statement=shown_statements(show_sql), **limits)
    with Database(engine) as database:
        engine.use(schema.catalog)
        manifest = database.release(release).manifest
        return database.verify(release=release, model=promised(model_of(manifest)), witnesses=witnesses, **knowledge)


def _print_identity(sealed: SealedCheck) -> None:
    """Print the digests of a sealed file, and the results of their comparisons."""
    print_digests(sealed.sha256, sealed.content_digest)
    if sealed.expected is not None:
        typer.echo(f"expected digest: {'the same' if sealed.expected else 'ANOTHER: this is not the file you expect'}")
    if sealed.asked:
        release = sealed.published_as
        words = (
            "NOT published there"
            if release is None
            else f"published as {release.name!r} on {release.published:%Y-%m-%d}"
        )
        typer.echo(f"owner's ledger: {words}")


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
    """``verify --against-source``: check the current data under the recoding of a release."""
    from anondb.models.named import model_of

    if release is None:
        raise InputError("--against-source needs --release NAME.", code="bad_usage")
    with opened(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit, read_only=True) as database:
        model = promised(model_of(database.release(release).manifest))
        check = database.check_view(release, model=model, witnesses=witnesses)
    if as_json:
        print_json(check.to_json(witnesses=witnesses > 0))
    else:
        verification = check.verification
        holds = "holds" if verification.verified else f"does not hold, {verification.violations:,} violations"
        rows = [
            ("promise", holds),
            ("data", "unchanged" if check.fresh else "changed since the release was made"),
            *([] if check.source_file is None else [("file", check.source_file.words)]),
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
    if not check.holds:
        raise typer.Exit(VerificationFailed.exit_code)
