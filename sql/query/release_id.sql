-- reads: manifest(key, value)
-- params: none
-- returns: release_id, collation
-- grain: one row
-- Which release the tables hold, and the collation by which DuckDB compares texts now.
SELECT manifest.value AS release_id, coalesce(current_setting('default_collation'), '') AS collation
FROM manifest
WHERE manifest.key = 'release_id'
