-- reads: frequent(support)
-- params: none
-- returns: itemsets, occurrences
-- grain: one row
-- The number of frequent itemsets, and of their occurrences.
SELECT count(*) AS itemsets, CAST(coalesce(sum(support), 0) AS BIGINT) AS occurrences FROM frequent
