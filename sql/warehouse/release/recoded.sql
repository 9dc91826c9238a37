-- reads: transactions(tid, item), image(item, released)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The released transactions of a global recoding: every item replaced by the number of its released item, each once.
SELECT DISTINCT transactions.tid, image.released AS item
FROM transactions
JOIN image ON transactions.item = image.item
