-- reads: none
-- params: wanted
-- returns: catalog_name, schema_name, table_name, is_current
-- grain: catalog_name, schema_name, table_name
-- The tables and views with a name (in lower case) in all attached databases, and whether they are in the current schema.
SELECT
    table_catalog AS catalog_name,
    table_schema AS schema_name,
    table_name,
    table_catalog = current_database() AND table_schema = current_schema() AS is_current
FROM information_schema.tables
WHERE lower(table_name) = getvariable('wanted')
ORDER BY 1, 2, 3
