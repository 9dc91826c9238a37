-- reads: transaction_items(transaction_id, item_id, copies)
-- params: none
-- returns: transaction_id, class
-- grain: transaction_id
-- The class of each non-empty transaction; transactions with equal content form a class.
SELECT transaction_id, list([item_id, copies] ORDER BY item_id ASC, copies ASC) AS class
FROM transaction_items
GROUP BY transaction_id
