-- reads: transactions(transaction_id, item, label), overlapping(below, above, size)
-- params: none
-- returns: transaction_id, item, above
-- grain: transaction_id, item
-- For each released item of a transaction of bags: the other released items of the transaction for its members, if any, from
-- the lowest to the highest.
SELECT
    transactions.transaction_id,
    transactions.item,
    list(others.item ORDER BY overlapping.size ASC, overlapping.above ASC) AS above
FROM transactions
JOIN transactions AS others ON transactions.transaction_id = others.transaction_id
JOIN overlapping ON transactions.label = overlapping.below AND others.label = overlapping.above
GROUP BY transactions.transaction_id, transactions.item
