-- reads: transactions(tid, item), leaves(item, node)
-- params: none
-- returns: tid, node
-- grain: tid, node
-- The transactions as leaves of a taxonomy, whose nodes are numbered in preorder: what lies below one node is together.
SELECT transactions.tid, leaves.node
FROM transactions
JOIN leaves ON transactions.item = leaves.item
ORDER BY transactions.tid ASC, leaves.node ASC
