-- reads: transactions(transaction_id, item), weights(released_item, weight)
-- params: weight
-- returns: transaction_id, signature
-- grain: transaction_id
-- The signature of each transaction that has any released item; items that are not listed have the weight in the parameter.
SELECT
    transactions.transaction_id,
    CAST(sum(coalesce(weights.weight, getvariable('weight'))) AS BIGINT) AS signature
FROM transactions
LEFT JOIN weights ON transactions.item = weights.released_item
GROUP BY transactions.transaction_id
