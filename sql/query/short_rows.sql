-- reads: transaction_items(transaction_id, item_id)
-- params: none
-- returns: transaction_id, item_id
-- grain: transaction_id, item_id
-- The rows of a release of sets, in numbers of two bytes; NULL for another number.
SELECT
    try_cast(transaction_items.transaction_id AS USMALLINT) AS transaction_id,
    try_cast(transaction_items.item_id AS USMALLINT) AS item_id
FROM transaction_items
