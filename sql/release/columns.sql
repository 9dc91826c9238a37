-- reads: none
-- params: catalog_name, schema
-- returns: table_name, column_name, data_type
-- grain: table_name, column_name
-- The columns of all tables and views of a schema.
SELECT table_name, column_name, data_type
FROM duckdb_columns()
WHERE database_name = getvariable('catalog_name') AND schema_name = getvariable('schema') AND NOT internal
ORDER BY table_name, column_index
