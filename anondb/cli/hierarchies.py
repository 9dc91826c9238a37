"""The commands on hierarchies of attributes: build, check, show. They are those on taxonomies, for the values of records."""

import dataclasses
from typing import Annotated, Any

import typer

from anondb.cli.app import Json, Source, opened
from anondb.cli.flags import with_flags
from anondb.cli.taxonomies import Id, print_check, rows_of, show_tree
from anondb.cli.words import print_json
from anondb.errors import InputError
from anondb.pages.text import counted, plain
from anondb.reading.options import OF_FILES
from anondb.taxonomies import FAN_OUT, HIERARCHIES, OPTIONS

OF_VALUES = ("values", "persons")
hierarchy = typer.Typer(
    name="hierarchy",
    help="Build, check and show hierarchies of people's attributes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Records = Annotated[str | None, typer.Option("--records", help="Table of the records.", metavar="TABLE")]
Attribute = Annotated[str, typer.Option("--attribute", help="Column of the records.", metavar="COL")]
Named = Annotated[
    str,
    typer.Option("--hierarchies", help="(attribute, node, parent), or a folder of NAME.tree files.", metavar="TABLE|DIR"),
]


@hierarchy.command()
@with_flags(*OF_FILES, "replace")
def build(
    source: Source,
    attribute: Attribute,
    to: Annotated[
        str, typer.Option(help="The table, or the folder with a / at its end, to write to.", metavar="TABLE|DIR/")
    ],
    records: Records = None,
    id_column: Id = "tid",
    by: Annotated[
        str, typer.Option(help="How values are grouped; by default what they suggest.", metavar="|".join(HIERARCHIES))
    ] = "",
    steps: Annotated[str | None, typer.Option(help=f"bands: {OPTIONS['steps']}.", metavar="N,N")] = None,
    separator: Annotated[str | None, typer.Option(help=f"prefix: {OPTIONS['separator']}.", metavar="TEXT")] = None,
    lengths: Annotated[str | None, typer.Option(help=f"code: {OPTIONS['lengths']}.", metavar="N,N")] = None,
    mapping: Annotated[str | None, typer.Option(help=f"mapping: {OPTIONS['mapping']}.", metavar="TABLE|FILE")] = None,
    fan_out: Annotated[int, typer.Option(help="frequency: children of a node.", metavar="N")] = FAN_OUT,
    root: Annotated[str, typer.Option(help="The label of the root.", metavar="NAME")] = "all",
    replace: bool = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Build a hierarchy of an attribute: bands of numbers, dates, prefixes, codes, your own groups, or by frequency."""
    from anondb.taxonomies.build import Request
    from anondb.taxonomies.hierarchies import build_hierarchy
    from anondb.taxonomies.writing import save

    texts = {"separator": separator, "lengths": lengths, "fan_out": fan_out, "root": root}
    request = Request.from_texts(by, steps=steps, mapping=mapping, **texts)
    with opened(source) as database:
        if database.engine.one_shot and not to.endswith("/"):
            to += "/"  # a data file has no tables
        rows = rows_of(database, source, records, id_column, attribute, flags)
        built = build_hierarchy(database.engine, rows, attribute, request)
        written = save(database.engine, built.tree, to, attribute=built.attribute, replace=replace)
    tree, how = built.tree, {"by": built.request.by, "steps": built.request.steps, "lengths": built.request.lengths}
    if as_json:
        facts = {"nodes": tree.size, "leaves": tree.n_leaves, "depth": int(tree.depth.max()), "alone": built.alone}
        print_json({"attribute": built.attribute, "hierarchies": to, "written": written, **how, **facts})
        return
    shown = [
        f"{name} {','.join(map(str, value)) if isinstance(value, tuple) else value}" for name, value in how.items() if value
    ]
    alone = f", {counted(built.alone, 'value')} in no group" if 0 < built.alone < tree.n_leaves else ""
    size = f"{counted(tree.size, 'node')}, {counted(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth.max()}"
    typer.echo(plain(f"{written}: {built.attribute} {', '.join(shown)}: {size}{alone}"))


@hierarchy.command()
@with_flags(*OF_FILES)
def check(
    source: Source, name: Named, records: Records = None, id_column: Id = "tid", as_json: Json = False, **flags: Any
) -> None:
    """Check that each hierarchy is a tree with all values of its column as leaves; exit with 2 if not. The output names
    nodes and values."""
    from anondb.taxonomies.hierarchies import check_hierarchies

    with opened(source, read_only=True) as database:
        if records is None and not database.engine.one_shot:
            raise InputError("Hierarchies are checked against records.", code="no_records", hint="Name them with --records.")
        rows = rows_of(database, source, records, id_column, "", flags)
        checks = check_hierarchies(database.engine, name, rows)
    fits = all(fit.fits for fit in checks)
    if as_json:
        print_json({"fits": fits, "hierarchies": [fit.to_json() for fit in checks]})
    else:
        for fit in checks:
            near = f"; did you mean {fit.nearest!r}?" if fit.nearest else ""
            no_column = () if fit.column else (f"the records have no attribute {fit.attribute!r}{near}",)
            print_check(dataclasses.replace(fit.checked, name=fit.attribute), OF_VALUES, *no_column)
    if not fits:
        raise typer.Exit(2)


@hierarchy.command()
@with_flags(*OF_FILES)
def show(
    source: Source,
    name: Named,
    attribute: Attribute,
    records: Records = None,
    id_column: Id = "tid",
    under: Annotated[str | None, typer.Option(help="Show the subtree of this node.", metavar="NODE")] = None,
    depth: Annotated[int, typer.Option(help="Levels to show.", metavar="N")] = 3,
    most: Annotated[int, typer.Option(help="Children to show of each node.", metavar="N")] = 10,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Show a hierarchy as a tree, with how many persons have a value below each node. For owners only."""
    from anondb.taxonomies.hierarchies import supported_hierarchy

    with opened(source, read_only=True) as database:
        rows = rows_of(database, source, records, id_column, attribute, flags)
        tree, persons = supported_hierarchy(database.engine, name, rows, attribute)
    show_tree(tree, persons.tolist(), OF_VALUES, under, depth, most, as_json)
