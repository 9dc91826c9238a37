-- reads: transactions(transaction_id, item), held(transaction_id, signature)
-- params: none
-- returns: released_item, signature, transactions
-- grain: released_item, signature
-- The number of transactions of each released item with each signature; NULL if a transaction has none.
SELECT transactions.item AS released_item, held.signature, count(*) AS transactions
FROM transactions
LEFT JOIN held ON transactions.transaction_id = held.transaction_id
GROUP BY transactions.item, held.signature
ORDER BY transactions.item ASC, held.signature ASC NULLS FIRST
