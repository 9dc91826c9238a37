-- reads: source()
-- params: none
-- returns: n
-- grain: one row
-- How many rows a table has.
SELECT count(*) AS n FROM source
