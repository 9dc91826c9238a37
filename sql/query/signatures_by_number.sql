-- reads: transaction_items(transaction_id, item_id), held(transaction_id, signature)
-- params: none
-- returns: item_id, signature, transactions
-- grain: item_id, signature
-- The number of transactions of each released item with each signature, by the number of the item; transactions without a
-- signature are left out.
SELECT transaction_items.item_id, held.signature, count(*) AS transactions
FROM transaction_items
JOIN held ON transaction_items.transaction_id = held.transaction_id
GROUP BY transaction_items.item_id, held.signature
ORDER BY transaction_items.item_id ASC, held.signature ASC
