-- reads: candidates(itemset, item, support)
-- params: k
-- returns: itemset, item, support
-- grain: itemset, item
-- The candidates with too small a support.
SELECT itemset, item, support FROM candidates WHERE support < getvariable('k')
