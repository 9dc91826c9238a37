-- reads: transactions(tid, item), ancestors(item, node)
-- params: none
-- returns: tid, node
-- grain: tid, node
-- Transactions of two and more items, extended with the taxonomy nodes above their items (every node of a cut that any
-- item could become). A transaction of one item holds no two nodes of a cut.
SELECT DISTINCT transactions.tid, ancestors.node
FROM transactions
JOIN ancestors ON transactions.item = ancestors.item
WHERE transactions.tid IN (SELECT tid FROM transactions GROUP BY tid HAVING count(*) > 1)
