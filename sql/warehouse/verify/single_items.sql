-- reads: codes(code, item, support)
-- params: none
-- returns: id, itemset, item, support
-- grain: id
-- The frequent itemsets of one item: the empty itemset (0) as the prefix, and the item.
SELECT code AS id, 0 AS itemset, code AS item, support FROM codes
