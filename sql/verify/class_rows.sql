-- reads: transactions(tid, item), classes(tid, class), sensitive(item), small(class)
-- params: none
-- returns: tid, class, item
-- grain: tid, item
-- The nonsensitive items of the records, without the classes in small.
SELECT transactions.tid, classes.class, transactions.item
FROM transactions
JOIN classes ON transactions.tid = classes.tid
WHERE NOT EXISTS (SELECT 1 FROM sensitive WHERE sensitive.item = transactions.item)
    AND NOT EXISTS (SELECT 1 FROM small WHERE small.class = classes.class)
