-- reads: transactions(tid, item), drawn(person)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The items of the drawn persons, in order.
SELECT transactions.tid, transactions.item
FROM transactions JOIN drawn ON transactions.tid = drawn.person
ORDER BY transactions.tid ASC, transactions.item ASC
