-- reads: transactions(tid, item), columns(item, column_id)
-- params: none
-- returns: tid, column_id, items
-- grain: tid, column_id
-- The value of every transaction in every column in which it has items: these items, in ascending order.
SELECT transactions.tid, columns.column_id, array_sort(list(transactions.item)) AS items
FROM transactions
JOIN columns ON transactions.item = columns.item
GROUP BY transactions.tid, columns.column_id
