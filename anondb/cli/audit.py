"""Commands that look for leaks: the leak check of a sealed file, and simulated attackers."""

from typing import Annotated, Any

import typer

from anondb.cli.app import Checked, ExistingRelease, Json, ShowSql, Source, Trusted, check_each, is_folder, opened
from anondb.cli.words import print_json, print_table
from anondb.errors import VerificationFailed


def inspect(
    file: Annotated[
        str,
        typer.Argument(
            help="The sealed file, a folder of such files, or postgresql://HOST/DATABASE/SCHEMA.", metavar="FILE|FOLDER"
        ),
    ],
    trusted: Trusted = None,
    as_json: Json = False,
) -> None:
    """Check a sealed file, or a folder of them, for leaks, byte for byte; exit 4 on what a release must not have."""
    from anondb.publications.sealed import inspect_file

    def each(place: str) -> Checked:
        one = inspect_file(place, trusted=trusted)
        findings = [f"{finding.check}: {finding.what}" for finding in one.findings]
        return one.to_json(), findings or ["holds the release and nothing else"], one.clean

    if is_folder(file):
        return check_each(file, each, as_json)
    inspection = inspect_file(file, trusted=trusted)
    if as_json:
        print_json(inspection.to_json())
    else:
        state = "holds the release and nothing else" if inspection.clean else f"{len(inspection.findings)} findings"
        figures = {name: value for name, value in inspection.figures.items() if name not in ("digest", "signature")}
        print_table(f"{inspection.path.name}: {state}", list(figures.items()))
        if "digest" in inspection.figures:
            typer.echo(inspection.figures["digest"])
            typer.echo(f"signature: {inspection.figures['signature']}")
        for finding in inspection.findings:
            typer.echo(f"{finding.check}: {finding.what}")
    if not inspection.clean:
        raise typer.Exit(VerificationFailed.exit_code)


def attack(
    source: Source,
    release: ExistingRelease,
    individuals: Annotated[int, typer.Option(help="Persons to draw from the source.")] = 1000,
    known: Annotated[
        int | None,
        typer.Option(
            help="Items of each person that the attacker knows, beside relational values (default: the promise's)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    invert: Annotated[
        bool, typer.Option("--invert", help="Also run the algorithm on every possible original; small releases only.")
    ] = False,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Simulate an attacker: count the candidates for real persons in the source and in the release."""
    from anondb.risk.inversion import invert_release

    with opened(source, show_sql=show_sql, read_only=True) as database:
        result = database.release(release).attack(individuals=individuals, known=known, seed=seed)
        inversion = invert_release(database.engine, release) if invert else None
    if as_json:
        print_json({**result.to_json(), "inversion": None if inversion is None else inversion.to_json()})
        return
    rows: list[tuple[str, Any]] = [("persons drawn", f"{result.individuals:,}"), ("items known of each", result.known)]
    if result.quasi_identifiers:
        rows.append(("values known of each", ", ".join(result.quasi_identifiers)))
    if not result.fresh:
        rows.append(("transactions", "have changed since the release was made"))
    for name, sizes in (("source", result.before), ("release", result.after)):
        quartiles = ", ".join(f"{q:,.0f}" for q in sizes.quartiles)
        rows += [
            (f"candidates in the {name}", f"{sizes.smallest:,} to {sizes.largest:,}, quartiles {quartiles}"),
            ("  singled out", f"{sizes.of_one:,}"),
            (f"  fewer than {result.k} candidates", f"{sizes.below_k:,}"),
            ("  with the fewest", f"{sizes.at_smallest:,}"),
        ]
    if inversion is not None:
        rows += [
            ("possible originals", f"{inversion.originals:,}, of which the algorithm leaves {inversion.consistent:,}"),
            ("largest probability of an item", f"{float(inversion.naive):.3f}, {float(inversion.posterior):.3f} then"),
            ("settled by the algorithm", f"{inversion.certain:,} pairs of a person and an item"),
        ]
    print_table(f"an attacker against {release}", rows)
