-- reads: transactions(transaction_id, item, copies), items(item, label), numbered(tid, transaction_id)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- Frozen rows under new numbers, sorted by number and by label (items are numbered in the order of their labels).
SELECT numbered.transaction_id, items.item, transactions.copies
FROM transactions
JOIN items ON transactions.item = items.label
JOIN numbered ON transactions.transaction_id = numbered.tid
ORDER BY 1 ASC, 2 ASC
