-- reads: grown(tid, prefix, item), numbered(itemset, prefix, item)
-- params: none
-- returns: tid, itemset, last
-- grain: tid, itemset
-- Where the itemsets of the next size occur.
SELECT grown.tid, numbered.itemset, grown.item AS last
FROM grown
JOIN numbered ON grown.prefix = numbered.prefix AND grown.item = numbered.item
