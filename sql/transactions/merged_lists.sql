-- reads: source(id)
-- params: none
-- returns: merged
-- grain: one row
-- How many rows of a table with one list for each id name an id that another row names, too.
SELECT count(*) - count(DISTINCT id) AS merged
FROM source
