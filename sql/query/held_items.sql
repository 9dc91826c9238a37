-- reads: transaction_items(transaction_id, item_id), weights(item_id, weight)
-- params: none
-- returns: transaction_id, signature
-- grain: transaction_id
-- The signature of each transaction with a listed released item, as in query/held, by the numbers of the released items: their
-- rows lie together, so that no others are read.
SELECT transaction_items.transaction_id, CAST(sum(weights.weight) AS BIGINT) AS signature
FROM transaction_items
JOIN weights ON transaction_items.item_id = weights.item_id
GROUP BY transaction_items.transaction_id
