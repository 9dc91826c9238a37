-- reads: itemsets(support)
-- params: none
-- returns: n
-- grain: one row
-- How many rows a check returned.
SELECT count(support) AS n FROM itemsets
