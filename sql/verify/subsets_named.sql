-- reads: numbered(itemset, prefix, item)
-- params: none
-- returns: prefix, item
-- grain: itemset
-- What the itemsets are made of, by number.
SELECT prefix, item FROM numbered ORDER BY itemset
