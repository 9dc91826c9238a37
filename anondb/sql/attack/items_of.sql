-- reads: transactions(tid, item), drawn(tid)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- What the drawn persons have, in order.
SELECT transactions.tid, transactions.item
FROM transactions JOIN drawn ON transactions.tid = drawn.tid
ORDER BY transactions.tid ASC, transactions.item ASC
