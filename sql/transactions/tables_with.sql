-- reads: none
-- params: catalog_name, id_column, item_column
-- returns: table_catalog, table_schema, table_name
-- grain: table_catalog, table_schema, table_name
-- The tables and views of a database that have both columns, without releases, the ledger and unfinished work.
SELECT table_catalog, table_schema, table_name
FROM information_schema.columns
WHERE
    table_catalog = getvariable('catalog_name')
    AND NOT starts_with(table_schema, 'release_')
    AND table_schema NOT IN ('anondb', 'anondb_work', 'information_schema', 'pg_catalog')
GROUP BY table_catalog, table_schema, table_name
HAVING
    count(*) FILTER (WHERE lower(column_name) = getvariable('id_column')) > 0
    AND count(*) FILTER (WHERE lower(column_name) = getvariable('item_column')) > 0
ORDER BY 1, 2, 3
