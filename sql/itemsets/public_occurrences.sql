-- reads: transactions(tid, item), kept(item)
-- params: none
-- returns: tid, prefix, member, itemset
-- grain: tid, itemset
-- The occurrences of the public items that are not moles, as itemsets of size one: itemset = its number, prefix = the number of the
-- itemset without its last item, member = the last item.
SELECT transactions.tid, 0 AS prefix, transactions.item AS member, transactions.item AS itemset
FROM transactions
JOIN kept ON transactions.item = kept.item
