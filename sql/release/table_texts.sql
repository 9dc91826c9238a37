-- reads: none
-- params: catalog_name
-- returns: name, text
-- grain: name
-- The tables of a database, each with the statement that creates it.
SELECT table_name AS name, sql AS text
FROM duckdb_tables()
WHERE database_name = getvariable('catalog_name')
