-- reads: recoded(released, copies)
-- params: none
-- returns: released, copies
-- grain: released
-- How often each released item is published.
SELECT released, CAST(sum(copies) AS BIGINT) AS copies FROM recoded GROUP BY released ORDER BY released ASC
