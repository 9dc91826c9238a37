"""Lists of items that the owner names, such as the sensitive ones."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from anondb.data.sources import open_source, reading
from anondb.data.transactions import ID_TYPES
from anondb.engine import Engine
from anondb.errors import InputError


def load_items(engine: Engine, given: Any, what: str = "sensitive items") -> frozenset[str]:
    """The items of a table, file or data frame with a column ``item`` (or a single column), or of a list of texts.

    Items that never occur in the data are legal. In a ``.dat`` file every item of every line counts.

    Raises:
        InputError: NULL items, or columns of which none is called ``item``.
    """
    if isinstance(given, list | tuple | set | frozenset):
        return frozenset(str(label) for label in given)
    with open_source(engine, given, what) as source:
        names = {c.lower(): c for c in source.columns}
        column = names.get("item") or (next(iter(source.columns)) if len(source.columns) == 1 else None)
        if column is None:
            raise InputError(
                f"{source.name} has no column 'item'.", code="no_such_column", hint="Call the column of the items so."
            )
        kind = source.columns[column]
        listed = kind.endswith("]")
        if not ID_TYPES.match(kind.rpartition("[")[0] if listed else kind):
            raise InputError(
                f"The column {column!r} of {source.name} has a type that items cannot have.", code="bad_type"
            )
        node: exp.Expr = exp.column(exp.to_identifier(column, quoted=True))
        if listed:
            node = exp.func("unnest", node)
        inner = exp.Subquery(this=source.query.copy(), alias=exp.TableAlias(this=exp.to_identifier("source")))
        rows = exp.select(node.as_("item")).from_(inner).subquery("rows")
        query = exp.select(exp.cast(exp.column("item"), "VARCHAR").as_("item")).from_(rows)
        with reading(source.name):
            found = engine.select(query, f"reading {source.name}")["item"]
    missing = getattr(found, "mask", None)
    if missing is not None and missing.any():
        raise InputError(f"{int(missing.sum())} of the {what} are NULL.", code="null_item", hint="Leave them out.")
    return frozenset(str(label) for label in found.tolist())
