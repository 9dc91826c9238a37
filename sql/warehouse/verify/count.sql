-- reads: itemsets(support)
-- params: none
-- returns: n
-- grain: one row
-- The number of rows that a check returned.
SELECT count(support) AS n FROM itemsets
