-- reads: manifest(key, value)
-- params: none
-- returns: n
-- grain: one row
-- The number of rows of a manifest; NULL if a key or a value is NULL.
SELECT CASE WHEN count(*) = count(key) AND count(*) = count(value) THEN count(*) END AS n FROM manifest
