-- reads: grown(tid, prefix, item), numbered(itemset, prefix, item)
-- params: none
-- returns: tid, itemset, last
-- grain: tid, itemset
-- The occurrences of the itemsets of the next size.
SELECT grown.tid, numbered.itemset, grown.item AS last
FROM grown
JOIN numbered ON grown.prefix = numbered.prefix AND grown.item = numbered.item
