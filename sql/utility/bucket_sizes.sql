-- reads: buckets(bucket_id, column_id, copies)
-- params: none
-- returns: bucket_id, size
-- grain: bucket_id
-- How many transactions each bucket holds.
SELECT bucket_id, CAST(sum(copies) AS BIGINT) AS size
FROM buckets
WHERE column_id = (SELECT min(other.column_id) FROM buckets AS other)
GROUP BY bucket_id
