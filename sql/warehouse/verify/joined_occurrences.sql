-- reads: occurrences(tid, itemset, prefix, item), frequent(id, itemset, item)
-- params: none
-- returns: tid, itemset, prefix, item
-- grain: tid, itemset
-- The occurrences of the frequent itemsets of the next size.
SELECT a.tid, frequent.id AS itemset, a.itemset AS prefix, b.item
FROM occurrences AS a
JOIN occurrences AS b ON a.tid = b.tid AND a.prefix = b.prefix AND a.item < b.item
JOIN frequent ON frequent.itemset = a.itemset AND frequent.item = b.item
