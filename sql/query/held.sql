-- reads: transactions(transaction_id, item), weights(released_item, weight)
-- params: none
-- returns: transaction_id, signature
-- grain: transaction_id
-- The signature of each transaction with a listed released item: the sum of their weights, the places of a mixed-radix number
-- that encodes the number of items of each class. Numbers may stand for released items: their rows lie together, so that no
-- others are read.
SELECT transactions.transaction_id, CAST(sum(weights.weight) AS BIGINT) AS signature
FROM transactions
JOIN weights ON transactions.item = weights.released_item
GROUP BY transactions.transaction_id
