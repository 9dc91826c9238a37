-- reads: transactions(transaction_id, item), weights(released_item, weight)
-- params: none
-- returns: transaction_id, signature
-- grain: transaction_id
-- The signature of each transaction that has one of the listed released items: the sum of their weights, which are places
-- of a mixed-radix number, so that it tells how many it has of each class.
SELECT transactions.transaction_id, CAST(sum(weights.weight) AS BIGINT) AS signature
FROM transactions
JOIN weights ON transactions.item = weights.released_item
GROUP BY transactions.transaction_id
