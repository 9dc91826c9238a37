-- reads: buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: bucket_id, column_id, size, top, empty, distinct_values
-- grain: bucket_id, column_id
-- For every bucket and column, the number of transactions, of those with the most frequent non-empty value, of those with
-- the empty value, and of distinct values.
SELECT
    bucket_id,
    column_id,
    CAST(sum(copies) AS BIGINT) AS size,
    CAST(coalesce(max(copies) FILTER (WHERE len(items) > 0), 0) AS BIGINT) AS top,
    CAST(coalesce(max(copies) FILTER (WHERE len(items) = 0), 0) AS BIGINT) AS empty,
    count(*) AS distinct_values
FROM buckets
GROUP BY bucket_id, column_id
