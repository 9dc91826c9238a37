-- reads: none
-- params: none
-- returns: name
-- grain: name
-- The temporary tables and views with names like those of work tables; tables cached by an open release have the name of a
-- query, with a slash.
SELECT name
FROM (
    SELECT table_name AS name FROM duckdb_tables() WHERE database_name = 'temp'
    UNION ALL
    SELECT view_name AS name FROM duckdb_views() WHERE database_name = 'temp'
) AS named
WHERE starts_with(lower(name), '_anondb_') AND NOT contains(name, '/')
ORDER BY 1
