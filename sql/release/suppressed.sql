-- reads: transactions(tid, item), image(item, released)
-- params: none
-- returns: items, occurrences
-- grain: one row
-- What a recoding takes away: the suppressed items that occur, and their occurrences.
SELECT count(DISTINCT transactions.item) AS items, count(*) AS occurrences
FROM transactions
JOIN image ON transactions.item = image.item
WHERE image.released < 0
