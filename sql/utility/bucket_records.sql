-- reads: transactions(tid, item), buckets(tid, bucket)
-- params: none
-- returns: n
-- grain: one row
-- The number of distinct transactions in each bucket, added up over the buckets.
WITH lists AS (
    SELECT tid, array_sort(list(item)) AS items FROM transactions GROUP BY tid
)
SELECT count(*) AS n
FROM (
    SELECT DISTINCT buckets.bucket, lists.items
    FROM buckets
    LEFT JOIN lists ON buckets.tid = lists.tid
) AS records
