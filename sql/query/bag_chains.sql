-- reads: transactions(transaction_id, item, label), overlaps(below, above, size)
-- params: none
-- returns: transaction_id, item, above
-- grain: transaction_id, item
-- For each released item of a transaction of bags: the other released items of the transaction for its members, if any, from
-- the lowest to the highest.
SELECT
    transactions.transaction_id,
    transactions.item,
    list(others.item ORDER BY overlaps.size ASC, overlaps.above ASC) AS above
FROM transactions
JOIN transactions AS others ON transactions.transaction_id = others.transaction_id
JOIN overlaps ON transactions.label = overlaps.below AND others.label = overlaps.above
GROUP BY transactions.transaction_id, transactions.item
