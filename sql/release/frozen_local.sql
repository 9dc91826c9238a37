-- reads: recoded(tid, released, copies), numbered(tid, transaction_id), released(released, item_id)
-- params: none
-- returns: transaction_id, item_id, copies
-- grain: transaction_id, item_id
-- The released transactions of a local recoding, under the new numbers, in their order.
SELECT numbered.transaction_id, released.item_id, CAST(recoded.copies AS INTEGER) AS copies
FROM recoded
JOIN numbered ON recoded.tid = numbered.tid
JOIN released ON recoded.released = released.released
ORDER BY released.item_id ASC, numbered.transaction_id ASC
