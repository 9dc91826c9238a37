-- reads: recoded(tid, item)
-- params: none
-- returns: transaction_id, item_id, copies
-- grain: transaction_id, item_id
-- The table transaction_items of a release: the numbers of the transactions were drawn at random, and may be published.
SELECT tid AS transaction_id, item AS item_id, CAST(1 AS INTEGER) AS copies FROM recoded ORDER BY item, tid
