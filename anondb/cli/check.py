"""The command that checks a promise: verify."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import (
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
    ReleaseName,
    Sensitive,
    ShowSql,
    Source,
    Threads,
    Transactions,
    buckets_of,
    model_from,
    opened,
    transactions_of,
)
from anondb.cli.words import figure, print_items, print_json, print_table, print_witnesses, shown
from anondb.errors import InputError, VerificationFailed

if TYPE_CHECKING:
    from anondb.models import Model


def verify(
    source: Source,
    transactions: Transactions = None,
    id: IdColumn = "tid",
    item: ItemColumn = "item",
    model: ModelName = None,
    k: K = None,
    m: M = None,
    l: L = None,
    h: H = None,
    p: P = None,
    privacy_constraints: PrivacyConstraints = None,
    sensitive: Sensitive = None,
    records: Annotated[
        str | None, typer.Option(help="The persons' table, with the same id column.", metavar="TABLE|FILE")
    ] = None,
    quasi_identifiers: Annotated[
        str | None,
        typer.Option(help="For kkm and klm: the columns of the records that attackers may know.", metavar="A,B"),
    ] = None,
    empty_values: EmptyValues = None,
    buckets: Annotated[
        str | None,
        typer.Option(help="For anatomy: table (bucket_id, column_id, items, copies).", metavar="TABLE|FILE"),
    ] = None,
    release: ReleaseName = None,
    bag_input: Annotated[
        bool, typer.Option("--bag-input", help="For the model k: repeated rows of a transaction count.")
    ] = False,
    against_source: Annotated[
        bool, typer.Option("--against-source", help="Check the release's recoding on its source as it is now.")
    ] = False,
    witnesses: Annotated[int, typer.Option(help="Show up to this many violations.", min=0)] = 0,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Check any table, buckets, a release (--release NAME) or a sealed file; exit 4 if the promise does not hold."""
    from anondb import checks, stored
    from anondb.release.objects import read_manifest
    from anondb.verify.anatomy import AnatomyVerification

    def promised(own: Model | None) -> Model:
        """The model asked for; what is not said is that of ``own``."""
        asked = model or (None if buckets is None else "anatomy")
        return model_from(asked, own, k=k, m=m, l=l, h=h, p=p, empty_values=empty_values)

    default = promised(None)
    stated: dict[str, Any] = {"privacy_constraints": privacy_constraints, "sensitive": sensitive}
    if transactions is not None and (release is not None or against_source):
        raise InputError(
            "--transactions and --release each say what to check.", code="bad_usage", hint="Give one of them."
        )
    if buckets is not None and (release is not None or against_source or default.name != "anatomy"):
        raise InputError("--buckets goes with --model anatomy, and not with --release.", code="bad_usage")
    if bag_input and (release is not None or against_source):
        raise InputError("--bag-input goes with --transactions.", code="bad_usage")
    plain = {"records": records, "quasi_identifiers": quasi_identifiers}
    if any(v is not None for v in plain.values()) and (release is not None or against_source or buckets is not None):
        raise InputError("--records and --quasi-identifiers go with --transactions.", code="bad_usage")
    if against_source:
        _verify_source(source, release, promised, witnesses, as_json, show_sql, threads, memory_limit)
        return
    with opened(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit, read_only=True) as database:
        sealed = None if transactions or release or buckets else stored.sealed_schema(database.engine)
        if sealed is not None and any(v is not None for v in plain.values()):
            raise InputError("A sealed file holds its own records.", code="bad_usage", hint="Name only the file.")
        if sealed is not None:
            own = checks.model_of(read_manifest(database.engine, sealed))
            found = checks.verify_sealed(database.engine, sealed, promised(own), witnesses, **stated)
        elif release is not None:
            own = checks.model_of(database.release(release).manifest)
            found = database.verify(release=release, model=promised(own), witnesses=witnesses, **stated)
        elif default.name == "anatomy":
            where = buckets_of(database, source, buckets)
            found = database.verify(transactions, buckets=where, model=default, id=id, item=item, witnesses=witnesses)
        else:
            where = transactions_of(database, source, transactions, id, item)
            found = database.verify(
                where,
                model=default,
                id=id,
                item=item,
                bag_input=bag_input,
                witnesses=witnesses,
                **stated,
                **plain,
            )
    if as_json:
        print_json(found.to_json(witnesses=witnesses > 0))
    else:
        promise = found.model.promise
        typer.echo(
            f"{promise}: holds" if found.verified else f"{promise}: does not hold, {found.violations} violations"
        )
        if isinstance(found, AnatomyVerification):
            typer.echo(f"coverage of the original transactions: {found.coverage}")
        if found.across_levels is not None:
            typer.echo(
                f"by labels: {found.violations} violations; across levels of the taxonomy: {found.across_levels}"
            )
        print_witnesses(found)
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
    from anondb import checks

    if release is None:
        raise InputError("--against-source goes with --release NAME.", code="bad_usage")
    with opened(source, show_sql=show_sql, threads=threads, memory_limit=memory_limit, read_only=True) as database:
        model = promised(checks.model_of(database.release(release).manifest))
        found = database.check_view(release, model=model, witnesses=witnesses)
    if as_json:
        print_json(found.to_json(witnesses=witnesses > 0))
    else:
        checked = found.verification
        rows = [
            ("promise", "holds" if checked.verified else f"does not hold, {checked.violations:,} violations"),
            ("data", "unchanged" if found.fresh else "changed since the release was made"),
            ("transactions", f"{found.transactions:,}"),
            ("without a released item", f"{found.not_covered_items:,} of {found.items:,} items"),
            ("suppression", "within the policy's limit" if found.within_limit else "beyond the policy's limit"),
            ("information loss", f"LM {figure(found.loss.lm)}, NCP {figure(found.loss.ncp)}"),
        ]
        print_table(f"{shown(release)} on its source as it is now", rows)
        print_witnesses(checked)
        print_items("without a released item", found.not_covered)
    if not found.holds:
        raise typer.Exit(VerificationFailed.exit_code)
