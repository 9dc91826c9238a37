-- reads: transactions(transaction_id, item), codes(released, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions of an existing release as integers.
SELECT DISTINCT transactions.transaction_id AS tid, codes.released AS item
FROM transactions
JOIN codes ON transactions.item = codes.label
ORDER BY 1, 2
