-- reads: transactions(tid, item), classes(tid, class), sensitive(item), items(item, label)
-- params: none
-- returns: tid, class, item, label
-- grain: tid, item
-- The sensitive items of each record.
SELECT transactions.tid, classes.class, transactions.item, items.label
FROM transactions
JOIN classes ON transactions.tid = classes.tid
JOIN items ON transactions.item = items.item
WHERE EXISTS (SELECT 1 FROM sensitive WHERE sensitive.item = transactions.item)
