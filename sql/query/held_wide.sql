-- reads: transactions(transaction_id, item), weights(released_item, weight)
-- params: none
-- returns: transaction_id, signature
-- grain: transaction_id
-- The same as held if a number would be too long: the classes of the listed released items, sorted, as a text.
SELECT
    transactions.transaction_id,
    string_agg(CAST(weights.weight AS TEXT), ',' ORDER BY weights.weight ASC) AS signature
FROM transactions
JOIN weights ON transactions.item = weights.released_item
GROUP BY transactions.transaction_id
