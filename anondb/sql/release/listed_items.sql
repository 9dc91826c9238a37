-- reads: buckets(bucket_id, column_id, items), numbered(tid, transaction_id)
-- params: none
-- returns: item
-- grain: bucket_id, column_id, items, item
-- The items of all frozen values, in the order of the values and within each.
WITH listed AS (
    SELECT
        numbered.transaction_id, buckets.column_id, buckets.items,
        unnest(buckets.items) AS item,
        unnest(range(len(buckets.items))) AS place
    FROM buckets
    JOIN numbered ON buckets.bucket_id = numbered.tid
)
SELECT item FROM listed ORDER BY transaction_id ASC, column_id ASC, items ASC, place ASC
