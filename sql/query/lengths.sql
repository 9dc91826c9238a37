-- reads: transactions(transaction_id)
-- params: none
-- returns: released_items, transactions
-- grain: released_items
-- The number of transactions with each number of released items; transactions without any are not counted.
SELECT lengths.released_items, count(*) AS transactions
FROM (
    SELECT transactions.transaction_id, count(*) AS released_items
    FROM transactions
    GROUP BY transactions.transaction_id
) AS lengths
GROUP BY lengths.released_items
ORDER BY lengths.released_items
