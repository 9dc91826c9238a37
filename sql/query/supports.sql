-- reads: transactions(transaction_id, item)
-- params: none
-- returns: released_item, transactions
-- grain: released_item
-- The support of each released item.
SELECT transactions.item AS released_item, count(*) AS transactions
FROM transactions
GROUP BY transactions.item
ORDER BY transactions.item ASC
