-- reads: transactions(tid, item), leaves(item, node)
-- params: none
-- returns: tid, node
-- grain: tid, node
-- The transactions as leaves of the taxonomy.
SELECT transactions.tid, leaves.node
FROM transactions
JOIN leaves ON transactions.item = leaves.item
