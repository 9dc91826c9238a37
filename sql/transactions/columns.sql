-- reads: none
-- params: none
-- returns: table_schema, table_name, column_name, data_type, is_current
-- grain: table_schema, table_name, column_name
-- The columns of the owner's tables and views in the current database, in order, without releases, the ledger and unfinished
-- work; the tables of the current schema come first.
SELECT
    table_schema,
    table_name,
    column_name,
    data_type,
    table_schema = current_schema() AS is_current
FROM information_schema.columns
WHERE
    table_catalog = current_database()
    AND NOT starts_with(table_schema, 'release_')
    AND NOT starts_with(table_name, '_anondb_')
    AND table_schema NOT IN ('anondb', 'anondb_work', 'information_schema', 'pg_catalog')
ORDER BY is_current DESC, table_schema, table_name, ordinal_position
