-- reads: frequent(support)
-- params: none
-- returns: itemsets, occurrences
-- grain: one row
-- How many frequent itemsets there are, and how often they occur in all.
SELECT count(*) AS itemsets, CAST(coalesce(sum(support), 0) AS BIGINT) AS occurrences FROM frequent
