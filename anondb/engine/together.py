"""One statement for a named query on several sets of tables, such as those of many files: each statement has a price."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from anondb.engine.interface import Columns
from anondb.engine.queries import Tables, query_of
from anondb.engine.texts import Query, quoted, sql
from anondb.engine.trees import exp

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

MOST = 64  # sets of tables of one statement: DuckDB nests what is united
MOST_LONG = 16  # those of one statement that reads all of their rows, which are there twice until they are apart
_UNITED = " UNION ALL "
_PART = "part of the query"
_T = TypeVar("_T")


class ForMany:
    """The part of an engine that runs one statement for many sets of tables."""

    _connection: duckdb.DuckDBPyConnection

    @abstractmethod
    def _execute(self, statement: exp.Expr | Query | str, what: str, fetch: bool = False) -> Columns: ...

    @abstractmethod
    def _ask(self, statement: exp.Expr | Query | str, what: str, work: Callable[[str], _T]) -> _T: ...

    def query_each(self, name: str, parts: Sequence[Tables]) -> list[Columns]:
        """Run a named query on several sets of tables, in one statement for many; returns the rows of each, in no order."""
        batches = [parts[n : n + MOST] for n in range(0, len(parts), MOST)]
        rows = (self._execute(together_text(name, few), f"query {name}", fetch=True) for few in batches)
        return [part for few, columns in zip(batches, rows, strict=True) for part in apart(columns, len(few))]

    def rows_each(self, name: str, parts: Sequence[tuple[Tables, int]]) -> list[Columns]:
        """Run a named query that only computes columns on several sets of tables with known numbers of rows, in one
        statement for many; returns the rows of each. The values are numbers, and objects where some are NULL. They come
        through Arrow, in two thirds of the time of NumPy's arrays."""

        def work(text: str) -> pa.Table:
            return self._connection.sql(text).to_arrow_table()

        columns: list[Columns] = []
        for n in range(0, len(parts), MOST_LONG):
            batch = parts[n : n + MOST_LONG]
            text = _UNITED.join(query_of(name, tables).text for tables, _ in batch)
            columns += _cut(self._ask(text, f"query {name}", work), [rows for _, rows in batch])
        return columns


def _cut(table: pa.Table, numbers: Sequence[int]) -> Iterator[Columns]:
    """The rows of each set of tables: DuckDB keeps the order of what is united."""
    assert table.num_rows == sum(numbers)
    starts = accumulate(numbers, initial=0)
    for start, number in zip(starts, numbers, strict=False):
        rows = table.slice(start, number)
        yield {name: _numbers(rows[name]) for name in table.column_names}


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of a column: PyArrow's own way to NumPy imports pandas, which takes a quarter of a second."""
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    return np.concatenate([np.zeros(0, np.uint8), *map(np.from_dlpack, column.chunks)])


def together_text(name: str, parts: Sequence[Tables]) -> str:
    """The text of a named query without values on several sets of tables: its rows in no order, with their sets' numbers."""
    if len(parts) == 1:
        return query_of(name, parts[0]).text
    queries = (query_of(name, tables) for tables in parts)
    return _UNITED.join(sql("SELECT {} AS {}, * FROM {} AS q", n, quoted(_PART), query) for n, query in enumerate(queries))


def apart(columns: Columns, parts: int) -> list[Columns]:
    """The rows of each set of tables."""
    if parts == 1:
        return [columns]
    part = columns.pop(_PART)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(1, parts))
    divided = {name: np.split(column[order], ends) for name, column in columns.items()}
    return [{name: pieces[n] for name, pieces in divided.items()} for n in range(parts)]
