"""The statements that make the database of a release: its tables and rows, its views and macros, and modelled rows."""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from anondb.engine import reads
from anondb.release.definitions import view_and_macro_texts
from anondb.release.modelled import COMMENT, StoredTable, modelled_tables, stored_tables
from anondb.release.objects import MODELLED, SEALED_SCHEMA, Kind, SchemaName, create_table


def build_statements(
    catalog: str, kind: Kind, manifest: Mapping[str, str], source: Callable[[StoredTable], exp.Table]
) -> list[exp.Expr | str]:
    """The statements that create the tables of a release in the current database, which is empty, fill each from its
    ``source``, and create the views and macros."""
    schema = SchemaName(catalog, SEALED_SCHEMA)
    statements: list[exp.Expr] = [create_table(schema.table(name), columns) for name, columns in kind.tables.items()]
    statements += modelled_statements(catalog, modelled_tables(manifest, kind))
    for table in stored_tables(manifest, kind):
        rows = exp.select(*map(reads.named, table.columns)).from_(source(table))
        statements.append(exp.Insert(this=table.place(catalog).expression(), expression=rows))
    return [*statements, *view_and_macro_texts(schema, manifest["release_id"], kind)]


def modelled_statements(catalog: str, tables: Sequence[StoredTable]) -> list[exp.Expr]:
    """The statements that create the schema of modelled rows and its tables, with their comments. DuckDB has no comments on
    schemas."""
    schema = SchemaName(catalog, MODELLED)
    statements: list[exp.Expr] = [exp.Create(this=schema.expression(), kind="SCHEMA")]
    for table in tables:
        statements.append(create_table(table.place(catalog), table.columns))
        words = exp.Literal.string(COMMENT)
        statements.append(exp.Comment(this=table.place(catalog).expression(), kind="TABLE", expression=words))
    return statements if tables else []
