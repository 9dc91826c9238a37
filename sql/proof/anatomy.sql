-- reads: buckets(bucket_id, column_id, items, copies)
-- params: numerator, denominator, columns, count_empty, transactions
-- returns: violation, items, support
-- grain: violation, items
-- l-diverse anatomy, l = numerator / denominator: in each bucket and column at most one in l of the bucket's transactions has
-- the same value, a set of items (the empty value only if it counts). The buckets are an anatomy: each column has one value
-- for each transaction of the bucket, each item has one column, and the numbers of columns (0: two or more) and transactions
-- are as promised.
WITH sets AS (
    SELECT bucket_id, column_id, list_sort(list_distinct(items)) AS items, copies FROM buckets
),
vals AS (
    SELECT bucket_id, column_id, items, CAST(sum(copies) AS BIGINT) AS copies
    FROM sets
    GROUP BY bucket_id, column_id, items
),
totals AS (
    SELECT bucket_id, column_id, CAST(sum(copies) AS BIGINT) AS total FROM vals GROUP BY bucket_id, column_id
),
sizes AS (
    SELECT bucket_id, max(total) AS size FROM totals GROUP BY bucket_id
),
all_columns AS (
    SELECT DISTINCT column_id FROM vals
),
places AS (
    SELECT DISTINCT listed.item, listed.column_id
    FROM (SELECT unnest(items) AS item, column_id FROM vals) AS listed
)
SELECT
    'too many of bucket ' || vals.bucket_id || ' have this value in column ' || vals.column_id AS violation,
    vals.items,
    vals.copies AS support
FROM vals
JOIN sizes ON vals.bucket_id = sizes.bucket_id
WHERE vals.copies * getvariable('numerator') > sizes.size * getvariable('denominator')
    AND (len(vals.items) > 0 OR getvariable('count_empty'))
UNION ALL
SELECT
    'bucket ' || sizes.bucket_id || ' has too few values in column ' || all_columns.column_id AS violation,
    CAST([] AS TEXT[]) AS items,
    coalesce(totals.total, 0) AS support
FROM sizes
CROSS JOIN all_columns
LEFT JOIN totals ON sizes.bucket_id = totals.bucket_id AND all_columns.column_id = totals.column_id
WHERE coalesce(totals.total, 0) <> sizes.size
UNION ALL
SELECT 'an item is in several columns' AS violation, [item] AS items, count(*) AS support
FROM places
GROUP BY item
HAVING count(*) > 1
UNION ALL
SELECT 'there are too few or too many columns' AS violation, CAST([] AS TEXT[]) AS items, counted.columns AS support
FROM (SELECT count(*) AS columns FROM all_columns) AS counted
WHERE counted.columns < 2 OR (getvariable('columns') > 0 AND counted.columns <> getvariable('columns'))
UNION ALL
SELECT 'there are too few or too many transactions' AS violation, CAST([] AS TEXT[]) AS items, counted.transactions AS support
FROM (SELECT coalesce(CAST(sum(size) AS BIGINT), 0) AS transactions FROM sizes) AS counted
WHERE counted.transactions <> getvariable('transactions')
UNION ALL
SELECT 'a row is no value of a bucket' AS violation, CAST([] AS TEXT[]) AS items, CAST(copies AS BIGINT) AS support
FROM buckets
WHERE
    bucket_id IS NULL OR column_id IS NULL OR items IS NULL OR copies IS NULL OR copies < 1
    OR len(list_filter(items, lambda item : item IS NULL)) > 0
