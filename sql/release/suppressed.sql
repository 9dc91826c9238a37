-- reads: transactions(tid, item), image(item, released)
-- params: none
-- returns: items, occurrences
-- grain: one row
-- The numbers of suppressed items that occur, and of their occurrences.
SELECT count(DISTINCT transactions.item) AS items, count(*) AS occurrences
FROM transactions
JOIN image ON transactions.item = image.item
WHERE image.released < 0
