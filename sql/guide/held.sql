-- reads: chosen(tid), transactions(tid, item), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions of chosen persons as rows of labels.
SELECT transactions.tid, items.label AS item
FROM transactions
JOIN chosen ON transactions.tid = chosen.tid
JOIN items ON transactions.item = items.item
ORDER BY 1, 2
