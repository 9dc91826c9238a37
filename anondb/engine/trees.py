"""sqlglot's trees. sqlglot is imported when something of it is first used: the import takes a fifth of the time of a small
run, and most commands compose texts alone (``texts.py``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from anondb.errors import InternalError

if TYPE_CHECKING:
    from sqlglot import exp as exp

    E = TypeVar("E", bound=exp.Expr)
else:

    class _Expressions(ModuleType):
        def __getattr__(self, name: str) -> Any:
            from sqlglot import exp

            setattr(self, name, getattr(exp, name))
            return self.__dict__[name]

    exp = _Expressions("exp")


def parsed(text: str, dialect: str = "duckdb") -> exp.Expr:
    """The tree of a statement."""
    import sqlglot

    return sqlglot.parse_one(text, dialect=dialect)


def parsed_query(text: str, dialect: str = "duckdb") -> exp.Query:
    """The tree of a query. Raises InternalError: it is not a SELECT."""
    if not isinstance(tree := parsed(text, dialect), exp.Query):
        raise InternalError("a query is not a SELECT")
    return tree


def is_tree(value: object) -> bool:
    """Whether a value is a tree: without sqlglot there is none."""
    return "sqlglot" in sys.modules and isinstance(value, exp.Expr)


def written(tree: exp.Expr) -> str:
    """The text of a tree in DuckDB's dialect."""
    return tree.sql(dialect=_duckdb())


@cache
def _duckdb() -> Any:
    """The dialect: looking it up by its name takes a tenth of the time of writing a statement."""
    from sqlglot.dialects.dialect import Dialect

    return Dialect.get_or_raise("duckdb")


def united(queries: Sequence[exp.Query]) -> exp.Query:
    """The rows of all queries."""
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]


def light(tree: E) -> E:
    """A tree without the positions of its nodes in the text: they are unused, and most of the cost of a copy."""
    for node in tree.walk():
        node._meta = None
    return tree
