"""Names in a query that a release does not have: of tables and columns, and of items.

The label of a released item, such as that of a category, is no item: nobody has it, and a note names some of its members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from difflib import get_close_matches

from sqlglot import exp

from anondb.engine import Shape
from anondb.errors import InputError
from anondb.query.cached_release import Opened
from anondb.query.parsing import lowered
from anondb.query.plan import Plan
from anondb.query.totals import labels_of

Column = tuple[str, str]
NEAREST = 3
MAX_ITEMS = 20_000  # to compare a text with; in time linear in their number


def not_accepted(tree: exp.Expr, shapes: Shape) -> InputError:
    """The error ``bad_sql`` for a query that DuckDB does not accept.

    Args:
        tree: the query.
        shapes: the tables that it may name.
    """
    what, hint = "", "Test it on a table with the same columns."
    aliases = _lowered(cte.alias for cte in tree.find_all(exp.CTE))
    tables = {lowered(name) for name, _ in shapes} | aliases
    columns = {lowered(column) for _, named in shapes for column in named} | _introduced(tree) | {"rowid"}
    for table in tree.find_all(exp.Table):
        dotted = lowered(".".join(part.name for part in table.parts))
        if isinstance(table.this, exp.Identifier) and not {dotted, lowered(table.name)} & tables:
            what, hint = f": there is no table {table.name!r}", f"The tables are {_listed(name for name, _ in shapes)}."
            break
    else:
        for column in tree.find_all(exp.Column):
            if not isinstance(column.this, exp.Star) and lowered(column.name) not in tables | columns:
                what = f": no table has a column {column.name!r}"
                quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
                hint = "Write texts in single quotes." if quoted else hint
                break
    return InputError(f"DuckDB does not accept this query for the original table{what}.", code="bad_sql", hint=hint)


def as_written(
    text: str, tree: exp.Expr, bound: list[Column], bind: Callable[[str], Sequence[Column] | None]
) -> list[Column]:
    """The names and types of the columns of a query, with the names that DuckDB gives them by its text: sqlglot writes some
    functions under other names.

    Args:
        text: the text; empty if there is none.
        tree: the query.
        bound: the names and types that the tree gives.
        bind: gives those that a text gives; None if DuckDB does not accept it, such as for a name of the session.
    """
    computed = (e for select in tree.find_all(exp.Select) for e in select.expressions if e.find(exp.Func))
    if not text or all(isinstance(e, exp.Alias | exp.Count) for e in computed):
        return bound
    told = bind(text) or ()
    same = len(told) == len(bound)
    return [(name, kind) for (name, _), (_, kind) in zip(told, bound, strict=True)] if same else bound


def _introduced(tree: exp.Expr) -> set[str]:
    """The names that the query itself gives to columns, tables and parameters of functions."""
    names = _lowered(node.alias for node in tree.find_all(exp.Alias, exp.Table, exp.Subquery, exp.Values))
    names |= _lowered(column.name for alias in tree.find_all(exp.TableAlias) for column in alias.columns)
    names |= _lowered(name.name for node in tree.find_all(exp.Lambda) for name in node.expressions)
    if tree.find(exp.Values):
        names |= {f"col{n}" for n in range(100)}
    return names


def _lowered(names: Iterable[str]) -> set[str]:
    return {lowered(name) for name in names}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def unknown_items(release: Opened, plan: Plan, written: Set[str]) -> list[str]:
    """A note for each item that a query names and no released item stands for.

    Args:
        release: the release.
        plan: the query.
        written: the literals that the analyst wrote; others are from the analyst's tables.
    """
    unknown = [label for label in labels_of(plan) & written if label not in release.images]
    return [_note(release, label) for label in sorted(unknown)]


def _note(release: Opened, label: str) -> str:
    suppressed = " or was suppressed" if release.suppressed else ""
    if label in release.sizes:
        members = _members(release, label)
        some = ", ".join(map(repr, members[:NEAREST])) + (", ..." if len(members) > NEAREST else "")
        known = f"{label!r} is no item but a released item, which stands for {len(members)} items"
        return f"{known}: ask for {some}."
    near = _nearest(release, label)
    hint = f" The nearest ones: {', '.join(map(repr, near))}." if near else ""
    return f"No released item stands for {label!r}: it does not occur{suppressed}.{hint}"


def _members(release: Opened, label: str) -> list[str]:
    return sorted(item for item, labels in release.images.items() if label in labels)


def _nearest(release: Opened, label: str) -> list[str]:
    if len(release.items) > MAX_ITEMS:
        return []
    by_lower = {item.lower(): item for item in release.items}
    return [by_lower[item] for item in get_close_matches(label.lower(), by_lower, NEAREST)]
