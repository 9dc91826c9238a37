"""``bounds.*.sql``: the tables, views and ``count_bounds`` of a release of Parquet files, for several engines. The SQL is
that of the sealed file (DuckDB), of releases in PostgreSQL, and of those in Spark, of which the texts for Snowflake and
BigQuery are translations."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

from anondb.engine import Table, reads, tree_of
from anondb.engine.texts import Sql, creation, sql
from anondb.engine.trees import exp, parsed
from anondb.errors import InputError
from anondb.release.bodies import bound_among
from anondb.release.definitions import modelled_statements, view_and_macro_texts
from anondb.release.modelled import StoredTable, modelled_tables
from anondb.release.objects import GLOBAL, MODELLED, Kind, SchemaName, create_table, with_item_supports
from anondb.release.publish import rows_file, rows_table
from anondb.warehouse.postgres.catalog import release_statements
from anondb.warehouse.postgres.definitions import schema_statements, table_statements
from anondb.warehouse.postgres.server import text_of as postgres_text
from anondb.warehouse.postgres.tables import schema_creation
from anondb.warehouse.spark.release import function_of
from anondb.warehouse.statements import text_in

E = TypeVar("E", bound=exp.Expr)
SCHEMA = "release"
_CATALOG = "the current database"
_PLAIN = "warehouse/plain/count_bounds"
_HEAD = "-- The release of this folder in {0}: its tables, and count_bounds(items).\n"
_WORDS = {
    "duckdb": """-- Run it in the folder: duckdb release.duckdb < bounds.duckdb.sql
-- Then: FROM count_bounds(['a', 'b']);
""",
    "postgres": """-- After CREATE TABLE, load each file into the table of its name, with a tool that reads Parquet.
-- Then: SELECT * FROM release.count_bounds(ARRAY['a', 'b']);
""",
    "spark": """-- Spark 4 or newer. Run it in the folder: spark-sql -f bounds.spark.sql
-- Then: SELECT * FROM count_bounds(array('a', 'b'));
""",
    "snowflake": """-- Load each file into the table of its name: PUT file://NAME.parquet @%NAME;
-- COPY INTO NAME FROM @%NAME FILE_FORMAT = (TYPE = PARQUET) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;
-- Then: SELECT * FROM TABLE(count_bounds(['a', 'b']));
""",
    "bigquery": """-- Load each file into the table of its name: bq load --source_format=PARQUET release.NAME NAME.parquet
-- Then: SELECT * FROM release.count_bounds(['a', 'b']);
""",
}
NAMES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark", "snowflake": "Snowflake", "bigquery": "BigQuery"}


def scripts(kind: Kind, manifest: Mapping[str, str]) -> dict[str, str]:
    """The content of each ``bounds.*.sql``, by the name of the file. Spark has releases of a global recoding of sets,
    without records; Snowflake and BigQuery have those of them that have no item supports; PostgreSQL lacks those with an
    attribute whose name is that of another argument. Modelled rows are tables in DuckDB and PostgreSQL, and temporary views
    ``modelled_NAME`` in Spark."""
    modelled = modelled_tables(manifest, kind)
    written = {"duckdb": _duckdb(kind, manifest["release_id"], modelled)}
    with contextlib.suppress(InputError):
        statements = [schema_creation(SCHEMA), *release_statements(SCHEMA, kind)]
        statements += [*schema_statements(MODELLED), *table_statements(MODELLED, modelled)] if modelled else []
        written["postgres"] = [s if isinstance(s, str) else postgres_text(s) for s in statements]
    if kind in (GLOBAL, with_item_supports(GLOBAL)):
        written["spark"] = _spark(kind, modelled)
    if kind == GLOBAL:
        written |= {"snowflake": _snowflake(kind), "bigquery": _bigquery(kind)}
    return {
        f"bounds.{engine}.sql": _HEAD.format(NAMES[engine]) + _WORDS[engine] + "".join(f"{s};\n" for s in statements)
        for engine, statements in written.items()
    }


def _duckdb(kind: Kind, release_id: str, modelled: Sequence[StoredTable]) -> list[str]:
    schema = SchemaName(_CATALOG, "main")
    statements: list[str] = []
    for name, columns in kind.tables.items():
        statements.append(creation(schema.table(name), reads.stored(rows_table(name), list(columns))))
    statements += view_and_macro_texts(schema, release_id, kind)
    statements += modelled_statements(_CATALOG, modelled)
    for table in modelled:
        rows = table.rows(rows_table(table.file))
        statements.append(sql("INSERT INTO {} {}", table.place(_CATALOG), Sql(rows.text)))
    return [text.replace(f'"{_CATALOG}".', "") for text in statements]


def _spark(kind: Kind, modelled: Sequence[StoredTable]) -> list[str]:
    files = {name: name for name in kind.tables}
    for table in modelled:
        files[exp.to_identifier(f"{MODELLED}_{table.name}", quoted=True).sql("spark")] = table.file
    views = [
        " ".join(("CREATE OR REPLACE TEMPORARY VIEW", name, "USING parquet OPTIONS", f"(path '{rows_file(file)}')"))
        for name, file in files.items()
    ]
    body = text_in("spark", function_of(Table("", "", "count_bounds"), _named(kind)))
    return [*views, body.replace("CREATE FUNCTION", "CREATE OR REPLACE TEMPORARY FUNCTION", 1)]


def _named(kind: Kind, schema: str = "") -> dict[str, Table]:
    return {name: Table("", schema, name) for name in kind.tables}


def _body(kind: Kind, schema: str = "") -> exp.Query:
    return tree_of(bound_among(_PLAIN, _named(kind, schema), {"items": exp.column("items")}))


def _tables(kind: Kind, dialect: str, schema: str = "") -> list[str]:
    return [
        text_in(dialect, _unquoted(parsed(create_table(Table("", schema, name), columns))))
        for name, columns in kind.tables.items()
    ]


def _unquoted(tree: E) -> E:
    """The tree with names that are no longer quoted."""
    for name in tree.find_all(exp.Identifier):
        name.set("quoted", False)
    return tree


def _snowflake(kind: Kind) -> list[str]:
    returned = "(lower_bound BIGINT, estimate DOUBLE, upper_bound BIGINT)"
    head = " ".join(("CREATE OR REPLACE FUNCTION", "count_bounds(items ARRAY)", "RETURNS TABLE", returned, "AS"))
    return [*_tables(kind, "snowflake"), "\n".join((head, "$$", text_in("snowflake", _unquoted(_body(kind))), "$$"))]


def _bigquery(kind: Kind) -> list[str]:
    body = _body(kind, SCHEMA)
    for node in list(body.find_all(exp.Length, exp.ArraySize)):
        if isinstance(node.this, exp.ArrayDistinct):
            label = exp.TableAlias(columns=[exp.to_identifier("label")])
            listed = exp.Unnest(expressions=[exp.column("items")], alias=label)
            count = exp.Count(this=exp.Distinct(expressions=[exp.column("label")]))
            node.replace(exp.select(count).from_(listed).subquery())
    head = " ".join(("CREATE OR REPLACE TABLE FUNCTION", SCHEMA + ".count_bounds(items ARRAY<STRING>)", "AS"))
    return [
        " ".join(("CREATE SCHEMA IF NOT EXISTS", SCHEMA)),
        *_tables(kind, "bigquery", SCHEMA),
        "\n".join((head, "(" + text_in("bigquery", body) + ")")),
    ]
