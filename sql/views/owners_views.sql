-- reads: none
-- params: none
-- returns: name, text
-- grain: one row for each view
-- The views of the owner, with the statements that made them.
SELECT view_name AS name, sql AS text
FROM duckdb_views()
WHERE NOT internal AND NOT starts_with(lower(schema_name), 'release_')
ORDER BY 1, 2
