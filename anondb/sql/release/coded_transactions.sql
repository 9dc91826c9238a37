-- reads: transactions(transaction_id, item, copies), items(item, label)
-- params: none
-- returns: tid, item, copies
-- grain: tid, item
-- Frozen rows as integers, each pair once (a repeated row is no further person, but its copies can be seen).
SELECT transactions.transaction_id AS tid, items.item, CAST(sum(transactions.copies) AS BIGINT) AS copies
FROM transactions
JOIN items ON transactions.item = items.label
GROUP BY transactions.transaction_id, items.item
