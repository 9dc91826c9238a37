-- reads: buckets(column_id, items, copies)
-- params: none
-- returns: item, column_id, transactions
-- grain: item
-- The column and the support of every item.
SELECT item, any_value(column_id) AS column_id, CAST(sum(copies) AS BIGINT) AS transactions
FROM (SELECT unnest(items) AS item, column_id, copies FROM buckets) AS listed
GROUP BY item
