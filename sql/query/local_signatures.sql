-- reads: transactions(transaction_id, item), transaction_ids(transaction_id, complete), held(transaction_id, signature)
-- params: none
-- returns: released_item, signature, complete, transactions
-- grain: released_item, signature, complete
-- The number of transactions of each released item with each signature (NULL if a transaction has none), and with each
-- completeness.
SELECT
    transactions.item AS released_item, held.signature, transaction_ids.complete,
    count(*) AS transactions
FROM transactions
JOIN transaction_ids ON transactions.transaction_id = transaction_ids.transaction_id
LEFT JOIN held ON transactions.transaction_id = held.transaction_id
GROUP BY transactions.item, held.signature, transaction_ids.complete
ORDER BY 1 ASC, 2 ASC NULLS FIRST, 3 ASC
