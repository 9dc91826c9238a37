-- reads: none
-- params: catalog_name
-- returns: schema_name, kind, name, text, comment
-- grain: schema_name, name
-- The tables with triggers in a database's catalog, as release/objects lists everything else. DuckDB has this function
-- since 2.0, which brought triggers.
SELECT DISTINCT schema_name, 'trigger' AS kind, table_name AS name, '' AS text, '' AS comment
FROM duckdb_triggers()
WHERE database_name = getvariable('catalog_name')
