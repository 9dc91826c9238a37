-- reads: none
-- params: catalog_name, schema
-- returns: table_name, column_name, data_type, is_table
-- grain: table_name, column_name
-- The columns of all tables and views of a schema, and whether each belongs to a table.
SELECT
    c.table_name, c.column_name, c.data_type,
    EXISTS (
        SELECT 1 FROM duckdb_tables() AS t
        WHERE t.database_name = c.database_name AND t.schema_name = c.schema_name AND t.table_name = c.table_name
    ) AS is_table
FROM duckdb_columns() AS c
WHERE c.database_name = getvariable('catalog_name') AND c.schema_name = getvariable('schema') AND NOT c.internal
ORDER BY c.table_name, c.column_index
