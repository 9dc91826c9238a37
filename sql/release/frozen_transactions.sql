-- reads: transactions(tid, item), numbered(tid, transaction_id), image(item, released), released(released, item_id)
-- params: none
-- returns: item_id, transaction_id
-- grain: row of transactions whose item has an image
-- The released transactions: every item replaced by its image, under the new numbers. A transaction may have an image repeatedly.
SELECT released.item_id, numbered.transaction_id
FROM transactions
JOIN image ON transactions.item = image.item
JOIN numbered ON transactions.tid = numbered.tid
JOIN released ON image.released = released.released
