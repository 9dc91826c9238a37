-- reads: itemsets(itemset, item, support)
-- params: none
-- returns: id, itemset, item, support
-- grain: id
-- The frequent itemsets of a size, numbered from 1: the number of the frequent itemset without the last item, and the last item.
SELECT CAST(row_number() OVER (ORDER BY itemset, item) AS INTEGER) AS id, itemset, item, support FROM itemsets
