-- reads: transactions(tid, item), images(item, released_item), codes(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The current data under the recoding of a release: each image once; items without an image are omitted.
SELECT DISTINCT transactions.tid, codes.item
FROM transactions
JOIN images ON transactions.item = images.item
JOIN codes ON images.released_item = codes.label
ORDER BY 1, 2
