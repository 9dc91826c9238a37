-- reads: source()
-- params: none
-- returns: n
-- grain: one row
-- The number of rows of a table.
SELECT count(*) AS n FROM source
