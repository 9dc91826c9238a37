-- reads: transactions(transaction_id, item, label), chains(transaction_id, item, above), transaction_ids(transaction_id, complete), held(transaction_id, signature)
-- params: none
-- returns: released_item, item, above, signature, complete, transactions
-- grain: item, above, signature, complete
-- The number of transactions of each released item in a release of bags, by the released items above it, by the transaction's
-- signature (NULL if it has none), and by completeness.
SELECT
    transactions.label AS released_item, transactions.item, chains.above, held.signature, transaction_ids.complete,
    count(*) AS transactions
FROM transactions
JOIN transaction_ids ON transactions.transaction_id = transaction_ids.transaction_id
LEFT JOIN chains ON transactions.transaction_id = chains.transaction_id AND transactions.item = chains.item
LEFT JOIN held ON transactions.transaction_id = held.transaction_id
GROUP BY transactions.label, transactions.item, chains.above, held.signature, transaction_ids.complete
ORDER BY 1 ASC, 2 ASC, 3 ASC NULLS FIRST, 4 ASC NULLS FIRST, 5 ASC
