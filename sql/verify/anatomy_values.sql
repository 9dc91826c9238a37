-- reads: buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: bucket_id, column_id, items, copies
-- grain: bucket_id, column_id, items
-- The multiset of values of every bucket and column, each value as a sorted set.
SELECT bucket_id, column_id, items, CAST(sum(copies) AS BIGINT) AS copies
FROM (SELECT bucket_id, column_id, array_sort(array_distinct(items)) AS items, copies FROM buckets) AS sets
GROUP BY bucket_id, column_id, items
