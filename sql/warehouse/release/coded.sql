-- reads: transaction_items(transaction_id, item_id)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The written rows of a release, for the verifier.
SELECT transaction_id AS tid, item_id AS item FROM transaction_items
