"""The commands on taxonomies: build, check, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import Json, Source, opened, transactions_of
from anondb.cli.flags import flag_values, with_flags
from anondb.cli.words import print_json, shown
from anondb.errors import InputError
from anondb.pages.text import counted, plain
from anondb.pipeline.report_rows import figure
from anondb.reading.options import READING, read_as
from anondb.taxonomies import BUILDERS, FAN_OUT, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.tree import Tree

    from anondb.api.database import Database
    from anondb.data.taxonomy import Taxonomy
    from anondb.taxonomies.check import Checked

OF_ITEMS = ("items", "transactions")
LISTED = 20  # labels of each kind in the text of a check
taxonomy = typer.Typer(
    name="taxonomy", help="Build, check and show taxonomies of items.", no_args_is_help=True, rich_markup_mode=None
)

Items = Annotated[str | None, typer.Option("--transactions", help="Table of the transactions.", metavar="TABLE")]
Id = Annotated[str, typer.Option("--id", help="Column that identifies a person.", metavar="COL")]
Item = Annotated[str, typer.Option("--item", help="Column of items.", metavar="COL")]
Tree_ = Annotated[str, typer.Option("--taxonomy", help="The taxonomy.", metavar="TABLE|FILE")]


@taxonomy.command()
@with_flags(*READING, "replace")
def build(
    source: Source,
    by: Annotated[str, typer.Option(help="How items are grouped.", metavar="|".join(BUILDERS))],
    to: Annotated[str, typer.Option(help="The table, or the .tree file, to write.", metavar="TABLE|FILE")],
    transactions: Items = None,
    id_column: Id = "tid",
    item_column: Item = "item",
    separator: Annotated[str | None, typer.Option(help=f"prefix: {OPTIONS['separator']}.", metavar="TEXT")] = None,
    lengths: Annotated[str | None, typer.Option(help=f"code: {OPTIONS['lengths']}.", metavar="N,N")] = None,
    columns: Annotated[str | None, typer.Option(help=f"categories: {OPTIONS['columns']}.", metavar="A,B")] = None,
    fan_out: Annotated[int, typer.Option(help="frequency, similarity: children of a node.", metavar="N")] = FAN_OUT,
    root: Annotated[str, typer.Option(help="The label of the root.", metavar="NAME")] = "all",
    replace: bool = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Build a taxonomy of the items: by names, codes, categories, frequency or similarity."""
    from anondb.taxonomies.build import Request, build_taxonomy
    from anondb.taxonomies.writing import check_target, save

    texts = {"separator": separator, "lengths": lengths, "columns": columns, "fan_out": fan_out, "root": root}
    request = Request.from_texts(by, **texts)
    with opened(source) as database:
        check_target(database.engine, to)
        items = rows_of(database, source, transactions, id_column, item_column, flags)
        tree = build_taxonomy(database.engine, items, request)
        save(database.engine, tree, to, replace=replace)
    _say_written(tree, to, as_json)


@taxonomy.command()
@with_flags(*READING, "replace")
def check(
    source: Source,
    name: Tree_,
    transactions: Items = None,
    id_column: Id = "tid",
    item_column: Item = "item",
    add_missing: Annotated[
        str | None, typer.Option(help="Add the missing items below this node; needs --to.", metavar="NODE")
    ] = None,
    to: Annotated[str | None, typer.Option(help="Where to write the complete taxonomy.", metavar="TABLE|FILE")] = None,
    replace: bool = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Check that a taxonomy is a tree with all items as leaves; exit with 2 if not. The output names nodes and items."""
    from anondb.taxonomies.check import check_taxonomy, with_missing
    from anondb.taxonomies.writing import check_target, save

    if (add_missing is None) != (to is None):
        raise InputError("--add-missing NODE and --to TABLE|FILE go together.", code="bad_usage")
    with opened(source, read_only=to is None) as database:
        items = rows_of(database, source, transactions, id_column, item_column, flags)
        if add_missing is not None and to is not None:
            check_target(database.engine, to)
            tree, added = with_missing(database.engine, name, items, add_missing)
            save(database.engine, tree, to, replace=replace)
            _say_written(tree, to, as_json, added=added)
            return
        checked = check_taxonomy(database.engine, name, items)
    if as_json:
        print_json(checked.to_json())
    else:
        print_check(checked)
        if checked.missing:
            typer.echo("To add them: anondb taxonomy check ... --add-missing NODE --to TABLE|FILE", err=True)
    if not checked.fits:
        raise typer.Exit(2)


@taxonomy.command()
@with_flags(*READING)
def show(
    source: Source,
    name: Tree_,
    transactions: Items = None,
    id_column: Id = "tid",
    item_column: Item = "item",
    under: Annotated[str | None, typer.Option(help="Show the subtree of this node.", metavar="NODE")] = None,
    depth: Annotated[int, typer.Option(help="Levels to show.", metavar="N")] = 3,
    most: Annotated[int, typer.Option(help="Children to show of each node.", metavar="N")] = 10,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Show a taxonomy as a tree; with transactions also how many of them have an item below each node."""
    from anondb.taxonomies.check import supported_taxonomy

    with opened(source, read_only=True) as database:
        items = None
        if transactions is not None or database.engine.one_shot:
            items = rows_of(database, source, transactions, id_column, item_column, flags)
        tree, supports = supported_taxonomy(database.engine, name, items)
    show_tree(tree, None if supports is None else supports.tolist(), OF_ITEMS, under, depth, most, as_json)


def rows_of(
    database: Database, source: str, table: str | None, id_column: str, item_column: str, flags: Mapping[str, Any]
) -> Any:
    """The transactions to read (``transactions_of``), with their columns."""
    rows = transactions_of(database, source, table, id_column, item_column, flag_values(flags))
    return read_as(rows, {}, id=id_column, item=item_column)


def show_tree(
    tree: Taxonomy,
    supports: list[int] | None,
    words: tuple[str, str],
    under: str | None,
    depth: int,
    most: int,
    as_json: bool,
) -> None:
    """Draw the tree below a node, or print its nodes as JSON; ``words`` name its leaves and who has them. Raises InputError:
    ``bad_parameter``; ``unknown_item``: there is no such node."""
    if depth < 1 or most < 1:
        raise InputError("--depth and --most are at least 1.", code="bad_parameter")
    top = 0 if under is None else tree.node_of.get(under, -1)
    if top < 0:
        raise InputError("The tree has no node of this name.", code="unknown_item", hint="Check --under.")
    if as_json:
        print_json({"nodes": [_node(tree, n, supports, words[1]) for n in range(top, int(tree.last[top]) + 1)]})
        return
    from rich.console import Console

    Console().print(_drawn(tree, top, supports, words, depth, most))


def _say_written(tree: Taxonomy, to: str, as_json: bool, added: int | None = None) -> None:
    if as_json:
        print_json({"taxonomy": to, "nodes": tree.size, "leaves": tree.n_leaves, "added": added})
        return
    more = "" if added is None else f", {added:,} of them added"
    typer.echo(plain(f"{to}: {counted(tree.size, 'node')}, {counted(tree.n_leaves, 'leaf', 'leaves')}{more}"))


def print_check(checked: Checked, words: tuple[str, str] = OF_ITEMS, *faults: str) -> None:
    """Print the shape of a tree, and what is wrong with it; ``words`` name its leaves and who
    has them, ``faults`` say what else is wrong."""
    leaves, holder = words[0], words[1].removesuffix("s")
    typer.echo(f"{plain(checked.name)}: {'fits' if checked.fits and not faults else 'does not fit'}")
    for fault in faults:
        typer.echo(f"  {plain(fault)}")
    if checked.shape is not None:
        s = checked.shape
        typer.echo(f"  nodes            {s.nodes:,}, of which {s.leaves:,} leaves")
        typer.echo(f"  depth of leaves  {s.depths[0]} to {s.depths[2]}, median {figure(s.depths[1])}")
        if s.fan_outs is not None:
            typer.echo(f"  children         {s.fan_outs[0]} to {s.fan_outs[2]}, median {figure(s.fan_outs[1])}")
        typer.echo(f"  balance          the largest branch has {s.largest:.0%} of the leaves")
    if checked.unused is not None:
        typer.echo(f"  unused           {checked.unused:,} leaves that no {holder} has")
    labels = {f"nodes with {kind}" if kind != "cycle" else "nodes on a cycle": of for kind, of in checked.faults.items()}
    labels |= {f"{leaves} that are missing": checked.missing, f"{leaves} that are inner nodes": checked.internal}
    labels["nodes with a single child"] = () if checked.shape is None else checked.shape.single_children
    for what, listed in labels.items():
        if listed:
            more = f" and {len(listed) - LISTED:,} more" if len(listed) > LISTED else ""
            typer.echo(f"  {len(listed):,} {what}: {', '.join(map(plain, listed[:LISTED]))}{more}")
    if checked.types is not None:
        typer.echo("  the items have the type {}, the leaves {}: cast one of them in a view".format(*checked.types))


def _node(tree: Taxonomy, node: int, supports: list[int] | None, holders: str) -> dict[str, Any]:
    parent = int(tree.parent[node])
    labels = {"node": tree.labels[node], "parent": None if parent < 0 else tree.labels[parent]}
    return {**labels, "leaves": int(tree.leaf_count[node]), holders: None if supports is None else supports[node]}


def _drawn(tree: Taxonomy, top: int, supports: list[int] | None, words: tuple[str, str], depth: int, most: int) -> Tree:
    """The tree below a node, the children with the largest supports or the most leaves first."""
    from rich.tree import Tree

    def label(node: int) -> str:
        facts = [] if tree.is_leaf[node] else [f"{int(tree.leaf_count[node]):,} {words[0]}"]
        facts += [] if supports is None else [f"{supports[node]:,} {words[1]}"]
        return shown(tree.labels[node]) + (f"  [dim]{', '.join(facts)}[/dim]" if facts else "")

    def grow(branch: Tree, node: int, left: int) -> None:
        children = list(tree.children(node))
        if supports is not None:
            children.sort(key=lambda child: -supports[child])
        for child in children[:most] if left else []:
            grow(branch.add(label(child)), child, left - 1)
        if left and len(children) > most:
            branch.add(f"[dim]and {len(children) - most:,} more[/dim]")

    drawn = Tree(label(top), highlight=False)
    grow(drawn, top, depth)
    return drawn
