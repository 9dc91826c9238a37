-- reads: transactions(transaction_id, item), weights(released_item, least, mean, variance, greatest)
-- params: none
-- returns: transaction_id, least, mean, variance, greatest
-- grain: transaction_id
-- The sum over the released items of each transaction with a listed one: what their members add to it at least, at most, and by
-- the estimate.
SELECT
    transactions.transaction_id,
    sum(weights.least) AS least,
    sum(weights.mean) AS mean,
    sum(weights.variance) AS variance,
    sum(weights.greatest) AS greatest
FROM transactions
JOIN weights ON transactions.item = weights.released_item
GROUP BY transactions.transaction_id
