-- reads: source(id)
-- params: none
-- returns: merged
-- grain: one row
-- The number of rows that repeat an id, in a table with one list for each id.
SELECT count(*) - count(DISTINCT id) AS merged
FROM source
