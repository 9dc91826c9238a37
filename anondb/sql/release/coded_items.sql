-- reads: transactions(transaction_id, item)
-- params: none
-- returns: item, label
-- grain: item
-- The released items that occur in frozen rows, numbered from 0 in code-point order.
SELECT CAST(row_number() OVER (ORDER BY item ASC) - 1 AS INTEGER) AS item, item AS label
FROM (SELECT DISTINCT item FROM transactions) AS distinct_items
