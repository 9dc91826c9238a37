-- reads: found(value)
-- params: none
-- returns: n
-- grain: one row
-- The number of rows that a check returned.
SELECT count(value) AS n FROM found
