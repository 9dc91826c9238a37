-- reads: transaction_items(transaction_id, item_id), labels(item_id, item)
-- params: none
-- returns: released_item, support
-- grain: released_item
-- How many transactions show each released item.
SELECT max(labels.item) AS released_item, count(*) AS support
FROM transaction_items
JOIN labels ON transaction_items.item_id = labels.item_id
GROUP BY transaction_items.item_id
