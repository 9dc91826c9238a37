-- reads: transactions(tid, item), numbered(tid, transaction_id), image(item, released), released(released, label, place)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The released transactions: every item replaced by its image, each image once, under the new numbers, sorted; the place of
-- a released item is that of its label in code-point order.
WITH images AS (
    SELECT DISTINCT numbered.transaction_id, image.released
    FROM transactions
    JOIN image ON transactions.item = image.item
    JOIN numbered ON transactions.tid = numbered.tid
    WHERE image.released >= 0
)
SELECT images.transaction_id, released.label AS item, CAST(1 AS INTEGER) AS copies
FROM images
JOIN released ON images.released = released.released
ORDER BY images.transaction_id ASC, released.place ASC
