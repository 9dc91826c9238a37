-- reads: transactions(transaction_id, item), weights(released_item, weight)
-- params: none
-- returns: transaction_id, signature
-- grain: transaction_id
-- The same as held where one released item is listed, which a transaction has once.
SELECT transactions.transaction_id, weights.weight AS signature
FROM transactions
JOIN weights ON transactions.item = weights.released_item
