-- reads: transactions(transaction_id, item), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- Frozen rows as integers, each pair once (a repeated row is no further person), sorted.
SELECT DISTINCT transactions.transaction_id AS tid, items.item
FROM transactions
JOIN items ON transactions.item = items.label
ORDER BY 1 ASC, 2 ASC
