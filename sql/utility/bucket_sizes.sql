-- reads: buckets(bucket_id, column_id, copies)
-- params: none
-- returns: bucket_id, size
-- grain: bucket_id
-- The number of transactions in each bucket.
SELECT bucket_id, CAST(sum(copies) AS BIGINT) AS size
FROM buckets
WHERE column_id = (SELECT min(other.column_id) FROM buckets AS other)
GROUP BY bucket_id
