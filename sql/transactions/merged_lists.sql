-- reads: source(id)
-- params: none
-- returns: merged
-- grain: one row
-- How many rows of a table with one list for each id repeat an id.
SELECT count(*) - count(DISTINCT id) AS merged
FROM source
