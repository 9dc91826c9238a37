-- reads: none
-- params: wanted
-- returns: definition
-- grain: one row
-- The definition of a work table: the only place where DuckDB shows the collation of a column.
SELECT sql AS definition
FROM duckdb_tables()
WHERE database_name = 'temp' AND table_name = getvariable('wanted')
