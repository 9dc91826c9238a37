-- reads: transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item)
-- params: none
-- returns: transaction_id, items
-- grain: transaction_id
-- The view baskets of a release of sets in Spark: one row for each transaction, its released items in one list sorted by code
-- point, [] where there are none.
SELECT
    transaction_ids.transaction_id,
    list_sort(list(labels.item)) AS items
FROM transaction_ids
LEFT JOIN transaction_items ON transaction_ids.transaction_id = transaction_items.transaction_id
LEFT JOIN labels ON transaction_items.item_id = labels.item_id
GROUP BY transaction_ids.transaction_id
