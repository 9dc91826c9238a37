-- reads: transactions(tid, item), ancestors(item, node)
-- params: none
-- returns: tid, node
-- grain: tid, node
-- Transactions extended with the taxonomy nodes above their items (every node of a cut that any item could become).
SELECT DISTINCT transactions.tid, ancestors.node
FROM transactions
JOIN ancestors ON transactions.item = ancestors.item
