-- reads: transaction_items(transaction_id)
-- params: none
-- returns: n
-- grain: one row
-- The number of transactions that show a released item.
SELECT count(DISTINCT transaction_id) AS n
FROM transaction_items
