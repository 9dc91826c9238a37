-- reads: grown(tid, prefix, item)
-- params: none
-- returns: itemset, prefix, item
-- grain: itemset
-- The itemsets of the next size, numbered.
SELECT row_number() OVER (ORDER BY prefix, item) AS itemset, prefix, item
FROM (SELECT DISTINCT prefix, item FROM grown) AS itemsets
