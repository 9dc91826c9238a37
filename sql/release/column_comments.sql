-- reads: none
-- params: none
-- returns: catalog_name, schema_name, table_name, column_name, data_type, comment
-- grain: catalog_name, schema_name, table_name, column_name
-- The columns of all tables and views of all databases, with their types and comments; views are bound.
SELECT database_name AS catalog_name, schema_name, table_name, column_name, data_type, coalesce(comment, '') AS comment
FROM duckdb_columns()
WHERE NOT internal
