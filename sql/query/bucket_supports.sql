-- reads: buckets(column_id, items, copies)
-- params: none
-- returns: item, column_id, transactions
-- grain: item
-- The column of every item, and how many transactions have it.
SELECT item, any_value(column_id) AS column_id, CAST(sum(copies) AS BIGINT) AS transactions
FROM (SELECT unnest(items) AS item, column_id, copies FROM buckets) AS listed
GROUP BY item
