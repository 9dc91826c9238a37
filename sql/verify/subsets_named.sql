-- reads: numbered(itemset, prefix, item)
-- params: none
-- returns: prefix, item
-- grain: itemset
-- The prefix and the last item of each itemset, by number.
SELECT prefix, item FROM numbered ORDER BY itemset
