-- reads: none
-- params: catalog_name
-- returns: schema_name
-- grain: schema_name
-- The schemas of a database.
SELECT schema_name FROM duckdb_schemas() WHERE database_name = getvariable('catalog_name') ORDER BY schema_name ASC
