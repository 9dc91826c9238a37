-- reads: manifest(key, value)
-- params: none
-- returns: n
-- grain: one row
-- How many rows a manifest has; NULL where a key or a value is NULL.
SELECT CASE WHEN count(*) = count(key) AND count(*) = count(value) THEN count(*) END AS n FROM manifest
