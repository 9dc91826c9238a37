-- reads: transaction_items(transaction_id, item_id)
-- params: none
-- returns: transaction_id, item_id
-- grain: transaction_id, item_id
-- The rows of a release of sets.
SELECT transaction_items.transaction_id, transaction_items.item_id
FROM transaction_items
