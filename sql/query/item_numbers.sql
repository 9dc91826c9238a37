-- reads: labels(item_id, item), transaction_items(item_id)
-- params: none
-- returns: item_id, item, all_rows
-- grain: item_id
-- The number of each released item, and how many rows all of them have.
SELECT labels.item_id, labels.item, (SELECT count(*) FROM transaction_items) AS all_rows
FROM labels
