-- reads: transactions(tid, item), leaves(item, node)
-- params: first_tid, last_tid
-- returns: tid, node
-- grain: tid, node
-- The occurrences of a range of transactions as leaves of the taxonomy, in preorder within each transaction.
SELECT transactions.tid, leaves.node
FROM transactions
JOIN leaves ON transactions.item = leaves.item
WHERE transactions.tid BETWEEN getvariable('first_tid') AND getvariable('last_tid')
ORDER BY transactions.tid, leaves.node
