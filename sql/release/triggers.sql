-- reads: none
-- params: none
-- returns: catalog_name, schema_name, kind, name, text, comment
-- grain: catalog_name, schema_name, name
-- The tables with triggers in the catalogs of all databases, as release/objects lists everything else. DuckDB has this function
-- since 2.0, which brought triggers.
SELECT DISTINCT database_name AS catalog_name, schema_name, 'trigger' AS kind, table_name AS name, '' AS text, '' AS comment
FROM duckdb_triggers()
