"""DataFusion as a warehouse: tables in memory beside Parquet files, which are read where they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.engine import Table
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.warehouse import portable
from anondb.warehouse.portable import PortableWarehouse

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {
    **{f"{sign}int{bits}": "BIGINT" for sign in ("", "u") for bits in (8, 16, 32)},
    "int64": "BIGINT",
    **dict.fromkeys(("string", "large_string", "string_view"), "VARCHAR"),
    "date32[day]": "DATE",
    "bool": "BOOLEAN",
}


class DataFusionWarehouse(PortableWarehouse):
    """Parquet files in a folder: ``NAME.parquet``, or all Parquet files in the folder ``NAME``, are the table NAME."""

    failures = (Exception,)
    name, dialect, temporary = "DataFusion", "postgres", False

    def __init__(self, folder: str | Path, **told: Callable[[str], None] | None) -> None:
        super().__init__(**told)
        try:
            from datafusion import SessionContext
        except ImportError:
            words = "DataFusion needs a package that is not installed."
            raise InputError(words, code="no_driver", hint="pip install 'anondb[datafusion]'.") from None
        self._context: Any = SessionContext()
        self._folder = Path(folder)

    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement without a result."""
        self.told(statement, what, lambda text: self._context.sql(text).collect())

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query in Arrow."""
        return self.told(query, what, lambda text: self._context.sql(text).to_arrow_table())

    def load(self, table: Table, kinds: Mapping[str, str], rows: pa.Table) -> None:
        """Name rows as a table."""
        self._context.from_arrow(rows, table.name)

    def described(self, reference: Any, columns: Sequence[str]) -> tuple[exp.Table, dict[str, str]]:
        """A table, which is registered when it is read for the first time, and the types of its columns."""
        table = exp.Table(this=exp.to_identifier(str(reference), quoted=True))
        if not self._context.table_exist(table.name):
            paths = [path for path in (self._folder / f"{table.name}.parquet", self._folder / table.name) if path.exists()]
            if Path(table.name).name != table.name or not paths:
                raise InputError(
                    "The folder has no such table.", code="no_such_table", hint="Write datafusion://FOLDER#TABLE."
                )
            register = self._context.register_parquet
            self.guarded(lambda: register(table.name, str(paths[0])), "reading the source")
        fields = self.rows(exp.select("*").from_(table).limit(0), "reading the source").schema
        return table, {field.name: KINDS.get(str(field.type), str(field.type)) for field in fields}


opened = partial(portable.opened, DataFusionWarehouse)
