-- reads: transactions(tid, item), frequent(id, itemset, item)
-- params: none
-- returns: tid, itemset, prefix, item
-- grain: tid, itemset
-- The occurrences of the frequent pairs; the prefix is the pair without its larger item.
SELECT a.tid, frequent.id AS itemset, a.item AS prefix, b.item
FROM transactions AS a
JOIN transactions AS b ON a.tid = b.tid AND a.item < b.item
JOIN frequent ON frequent.itemset = a.item AND frequent.item = b.item
