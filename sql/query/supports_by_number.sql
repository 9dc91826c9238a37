-- reads: transaction_items(item_id)
-- params: none
-- returns: item_id, transactions
-- grain: item_id
-- The number of transactions of each released item of a release of sets, by its number.
SELECT transaction_items.item_id, count(*) AS transactions
FROM transaction_items
GROUP BY transaction_items.item_id
