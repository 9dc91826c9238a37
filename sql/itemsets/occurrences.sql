-- reads: transactions(tid, item), leaves(item, node)
-- params: none
-- returns: tid, node
-- grain: tid, node
-- All occurrences as leaves of the taxonomy, in preorder within each transaction, for the posting lists.
SELECT transactions.tid, leaves.node
FROM transactions
JOIN leaves ON transactions.item = leaves.item
ORDER BY transactions.tid, leaves.node
