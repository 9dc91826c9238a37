-- reads: none
-- params: catalog_name, schema, lower_name
-- returns: n
-- grain: one row
-- The number of tables and views of a name in lower case; information_schema.tables has the same and takes eight times as long.
SELECT count(*) AS n
FROM (
    SELECT database_name, schema_name, table_name AS name FROM duckdb_tables()
    UNION ALL
    SELECT database_name, schema_name, view_name AS name FROM duckdb_views()
) AS listed
WHERE
    database_name = getvariable('catalog_name')
    AND schema_name = getvariable('schema')
    AND lower(name) = getvariable('lower_name')
