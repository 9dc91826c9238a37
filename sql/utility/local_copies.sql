-- reads: recoded(released, copies)
-- params: none
-- returns: released, copies
-- grain: released
-- The number of published copies of each released item.
SELECT released, CAST(sum(copies) AS BIGINT) AS copies FROM recoded GROUP BY released ORDER BY released ASC
