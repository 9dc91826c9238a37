-- reads: recoded(tid, released, copies), numbered(tid, transaction_id), released(released, label, place)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The released transactions of a local recoding, under the new numbers, sorted; the place of a released item is that
-- of its label in code-point order.
SELECT numbered.transaction_id, released.label AS item, CAST(recoded.copies AS INTEGER) AS copies
FROM recoded
JOIN numbered ON recoded.tid = numbered.tid
JOIN released ON recoded.released = released.released
ORDER BY numbered.transaction_id ASC, released.place ASC
