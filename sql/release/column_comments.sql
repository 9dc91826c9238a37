-- reads: none
-- params: catalog_name
-- returns: table_name, column_name, data_type, comment
-- grain: table_name, column_name
-- The columns of all tables and views of a database, with their types and comments; views are bound.
SELECT table_name, column_name, data_type, coalesce(comment, '') AS comment
FROM duckdb_columns()
WHERE database_name = getvariable('catalog_name') AND NOT internal
