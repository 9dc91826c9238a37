-- reads: transaction_items(transaction_id, item_id, copies), labels(item_id, item)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The view transactions: the rows of the release with the labels of the released items in place of their numbers.
SELECT transaction_items.transaction_id, labels.item, transaction_items.copies
FROM transaction_items
JOIN labels ON transaction_items.item_id = labels.item_id
