-- reads: transaction_items(transaction_id, item_id), labels(item_id, item)
-- params: none
-- returns: released_item, support
-- grain: released_item
-- How many transactions show each released item.
SELECT labels.item AS released_item, counted.support
FROM (SELECT item_id, count(*) AS support FROM transaction_items GROUP BY item_id) AS counted
JOIN labels ON counted.item_id = labels.item_id
