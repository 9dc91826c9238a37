-- reads: none
-- params: none
-- returns: table_name
-- grain: table_name
-- The names of the tables and views of all attached databases but work tables, for a hint at the one that was meant.
SELECT DISTINCT table_name FROM information_schema.tables WHERE NOT starts_with(table_name, '_anondb_') ORDER BY 1
