-- reads: none
-- params: none
-- returns: name
-- grain: name
-- The temporary tables and views that have names such as work tables have; what an open release keeps has a query's
-- name, with a slash.
SELECT name
FROM (
    SELECT table_name AS name FROM duckdb_tables() WHERE database_name = 'temp'
    UNION ALL
    SELECT view_name AS name FROM duckdb_views() WHERE database_name = 'temp'
) AS named
WHERE starts_with(lower(name), '_anondb_') AND NOT contains(name, '/')
ORDER BY 1
