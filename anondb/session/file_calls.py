"""Calls of the macro ``count_bounds`` of a sealed file, in a query of a session."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.answers.ranged.failing import failed
from anondb.engine import DuckDBEngine
from anondb.engine.untrusted import materialized
from anondb.query.parsing import lowered
from anondb.query.refusals import unsupported
from anondb.session.output import BOUNDS
from anondb.session.result import fetched

_CONSTANTS = (
    exp.Array,
    exp.Boolean,
    exp.Identifier,
    exp.Literal,
    exp.Neg,
    exp.Null,
    exp.PropertyEQ,
    exp.Cast,
    exp.DataType,
)


def with_bounds(tree: exp.Expr, engines: Sequence[DuckDBEngine]) -> exp.Expr:
    """A query with the row of each call of ``count_bounds`` in its place.

    Args:
        tree: the query, which is changed.
        engines: read the files.

    Raises:
        InputError: ``unsupported_query``: there are several files, or it has other operands than constants.
    """
    for table in list(tree.find_all(exp.Table)):
        call = table.this
        if not isinstance(call, exp.Anonymous) or lowered(call.name) != "count_bounds":
            continue
        if len(engines) > 1:
            raise unsupported("count_bounds of several files", "Count the ids: count(DISTINCT ...), with conditions.")
        if not all(isinstance(part, _CONSTANTS) for part in call.walk() if part is not call):
            raise unsupported("count_bounds with arguments that are not constants", "Write count_bounds(['a', 'b']).")
        asked = exp.select(*BOUNDS).from_(exp.Table(this=call.copy()))
        (row,) = fetched(materialized(engines[0], asked, failed))
        kinds = ("BIGINT", "DOUBLE", "BIGINT")
        cells = [exp.cast(exp.convert(v), k).as_(n) for v, k, n in zip(row, kinds, BOUNDS, strict=True)]
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier("count_bounds"))
        table.replace(exp.Subquery(this=exp.select(*cells), alias=alias.copy()))
    return tree
