-- reads: transactions(transaction_id, item, label), overlaps(below, above, size)
-- params: none
-- returns: transaction_id, item, above
-- grain: transaction_id, item
-- What else of the same transaction stands for the members of a released item of bags, from below to above, where there is
-- anything.
SELECT
    transactions.transaction_id,
    transactions.item,
    list(others.item ORDER BY overlaps.size ASC, overlaps.above ASC) AS above
FROM transactions
JOIN transactions AS others ON transactions.transaction_id = others.transaction_id
JOIN overlaps ON transactions.label = overlaps.below AND others.label = overlaps.above
GROUP BY transactions.transaction_id, transactions.item
