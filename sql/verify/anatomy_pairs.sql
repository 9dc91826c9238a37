-- reads: vals(bucket_id, column_id, items, copies), item_columns(item, column_id)
-- params: count_empty
-- returns: bucket_id, column_id, size, total, top, shared, columns
-- grain: bucket_id, column_id
-- Every bucket with every column (Definitions 2 to 5): the size of the bucket, the number of values of the column there, the
-- count of the most frequent value that counts, whether a value holds an item of several columns, and the number of columns.
WITH totals AS (
    SELECT bucket_id, column_id, CAST(sum(copies) AS BIGINT) AS total FROM vals GROUP BY bucket_id, column_id
),
tops AS (
    SELECT bucket_id, column_id, max(copies) AS top
    FROM vals
    WHERE len(items) > 0 OR getvariable('count_empty')
    GROUP BY bucket_id, column_id
),
sizes AS (
    SELECT bucket_id, max(total) AS size FROM totals GROUP BY bucket_id
),
all_columns AS (
    SELECT DISTINCT column_id FROM vals
),
everywhere AS (
    SELECT item FROM item_columns GROUP BY item HAVING count(*) > 1
),
sharing AS (
    SELECT DISTINCT listed.bucket_id, listed.column_id
    FROM (SELECT bucket_id, column_id, unnest(items) AS item FROM vals) AS listed
    JOIN everywhere ON listed.item = everywhere.item
)
SELECT
    sizes.bucket_id,
    all_columns.column_id,
    sizes.size,
    coalesce(totals.total, 0) AS total,
    coalesce(tops.top, 0) AS top,
    sharing.bucket_id IS NOT NULL AS shared,
    (SELECT count(*) FROM all_columns) AS columns
FROM sizes
CROSS JOIN all_columns
LEFT JOIN totals ON sizes.bucket_id = totals.bucket_id AND all_columns.column_id = totals.column_id
LEFT JOIN tops ON sizes.bucket_id = tops.bucket_id AND all_columns.column_id = tops.column_id
LEFT JOIN sharing ON sizes.bucket_id = sharing.bucket_id AND all_columns.column_id = sharing.column_id
