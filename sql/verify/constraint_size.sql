-- reads: found(value)
-- params: none
-- returns: n
-- grain: one row
-- How many rows a check returned.
SELECT count(value) AS n FROM found
