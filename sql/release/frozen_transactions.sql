-- reads: transactions(tid, item), numbered(tid, transaction_id), image(item, released), released(released, item_id)
-- params: none
-- returns: transaction_id, item_id, copies
-- grain: transaction_id, item_id
-- The released transactions: every item replaced by its image, each image once, under the new numbers, in their order.
SELECT DISTINCT numbered.transaction_id, released.item_id, CAST(1 AS INTEGER) AS copies
FROM transactions
JOIN image ON transactions.item = image.item
JOIN numbered ON transactions.tid = numbered.tid
JOIN released ON image.released = released.released
ORDER BY released.item_id ASC, numbered.transaction_id ASC
