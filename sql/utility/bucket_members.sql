-- reads: buckets(bucket_id, column_id, items, copies), queries(item), items(item, label)
-- params: none
-- returns: value, bucket_id, column_id, copies, item
-- grain: value, item
-- The items of a workload that each value of an anatomy's buckets holds; values are numbered.
WITH vals AS (
    SELECT
        CAST(row_number() OVER (ORDER BY bucket_id ASC, column_id ASC, items ASC) AS INTEGER) AS value,
        bucket_id, column_id, copies, items
    FROM buckets
),
listed AS (
    SELECT value, bucket_id, column_id, copies, unnest(items) AS label FROM vals
),
asked AS (
    SELECT DISTINCT items.item, items.label FROM items JOIN queries ON items.item = queries.item
)
SELECT listed.value, listed.bucket_id, listed.column_id, listed.copies, asked.item
FROM listed
JOIN asked ON listed.label = asked.label
