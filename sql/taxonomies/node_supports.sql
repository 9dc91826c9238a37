-- reads: transactions(tid, item), above(item, node)
-- params: none
-- returns: node, transactions
-- grain: node
-- The number of transactions with an item at or below each node of a taxonomy.
SELECT above.node, count(DISTINCT transactions.tid) AS transactions
FROM transactions
JOIN above ON transactions.item = above.item
GROUP BY above.node
ORDER BY above.node ASC
