-- reads: transactions(tid, item), classes(tid, class), hidden(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The items of persons, where the same item of persons of two classes counts as two items; hidden ones are left out. So a set
-- of these is what somebody knows who knows the class of a person and some items.
SELECT transactions.tid, CAST(dense_rank() OVER (ORDER BY classes.class, transactions.item) AS INTEGER) AS item
FROM transactions
JOIN classes ON transactions.tid = classes.tid
WHERE NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.item = transactions.item)
