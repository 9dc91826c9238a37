-- reads: none
-- params: catalog_name, schema
-- returns: name, text
-- grain: name
-- The tables of a schema, each with the statement that creates it, and its views, without their texts.
SELECT table_name AS name, sql AS text
FROM duckdb_tables()
WHERE database_name = getvariable('catalog_name') AND schema_name = getvariable('schema')
UNION ALL
SELECT view_name AS name, '' AS text
FROM duckdb_views()
WHERE database_name = getvariable('catalog_name') AND schema_name = getvariable('schema')
