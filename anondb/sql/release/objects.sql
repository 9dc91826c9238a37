-- reads: none
-- params: catalog_name
-- returns: schema_name, kind, name, part, detail, text
-- grain: schema_name, kind, name, part, detail
-- Everything that a database's catalog holds but macros, in one list: schemas, tables, views, their columns with types,
-- and whatever a release must not have. A comment, a tag or a default shows in the detail; a view has a text.
SELECT
    schema_name, 'schema' AS kind, '' AS name, '' AS part,
    CASE WHEN comment IS NULL AND len(map_keys(tags)) = 0 THEN '' ELSE 'commented' END AS detail, '' AS text
FROM duckdb_schemas()
WHERE database_name = getvariable('catalog_name') AND schema_name NOT IN ('information_schema', 'pg_catalog')
UNION ALL
SELECT
    schema_name, 'table' AS kind, table_name AS name, '' AS part,
    CASE WHEN comment IS NULL AND len(map_keys(tags)) = 0 THEN '' ELSE 'commented' END AS detail, '' AS text
FROM duckdb_tables()
WHERE database_name = getvariable('catalog_name')
UNION ALL
SELECT
    schema_name, 'view' AS kind, view_name AS name, '' AS part,
    CASE WHEN comment IS NULL AND len(map_keys(tags)) = 0 THEN '' ELSE 'commented' END AS detail, sql AS text
FROM duckdb_views()
WHERE database_name = getvariable('catalog_name') AND NOT internal
UNION ALL
SELECT
    schema_name, 'column' AS kind, table_name AS name, column_name AS part,
    CASE WHEN comment IS NULL AND column_default IS NULL THEN data_type ELSE 'commented or with a default' END AS detail, '' AS text
FROM duckdb_columns()
WHERE database_name = getvariable('catalog_name') AND NOT internal
UNION ALL
SELECT schema_name, 'type' AS kind, type_name AS name, '' AS part, '' AS detail, '' AS text
FROM duckdb_types()
WHERE database_name = getvariable('catalog_name') AND NOT internal
UNION ALL
SELECT schema_name, 'sequence' AS kind, sequence_name AS name, '' AS part, '' AS detail, '' AS text
FROM duckdb_sequences()
WHERE database_name = getvariable('catalog_name')
UNION ALL
SELECT schema_name, 'index' AS kind, index_name AS name, '' AS part, '' AS detail, '' AS text
FROM duckdb_indexes()
WHERE database_name = getvariable('catalog_name')
UNION ALL
SELECT schema_name, 'constraint' AS kind, table_name AS name, '' AS part, constraint_type AS detail, '' AS text
FROM duckdb_constraints()
WHERE database_name = getvariable('catalog_name')
UNION ALL
SELECT schema_name, 'trigger' AS kind, table_name AS name, '' AS part, '' AS detail, '' AS text
FROM duckdb_triggers()
WHERE database_name = getvariable('catalog_name')
UNION ALL
SELECT '' AS schema_name, 'database' AS kind, '' AS name, '' AS part, 'commented' AS detail, '' AS text
FROM duckdb_databases()
WHERE database_name = getvariable('catalog_name') AND comment IS NOT NULL
