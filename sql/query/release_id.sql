-- reads: manifest(key, value)
-- params: none
-- returns: release_id, collation
-- grain: one row
-- The number of the release in the tables, and the current collation of DuckDB.
SELECT manifest.value AS release_id, coalesce(current_setting('default_collation'), '') AS collation
FROM manifest
WHERE manifest.key = 'release_id'
