-- reads: transactions(tid, item), drawn(person)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- What the drawn persons have, in order.
SELECT transactions.tid, transactions.item
FROM transactions JOIN drawn ON transactions.tid = drawn.person
ORDER BY transactions.tid ASC, transactions.item ASC
