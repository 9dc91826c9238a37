-- reads: pairs(bucket_id, size), violations(bucket_id)
-- params: none
-- returns: pairs, violations, transactions
-- grain: one row
-- The number of pairs, of those that break the promise, and of the transactions in all buckets.
SELECT
    (SELECT count(*) FROM pairs) AS pairs,
    (SELECT count(*) FROM violations) AS violations,
    coalesce(CAST(sum(sizes.size) AS BIGINT), 0) AS transactions
FROM (SELECT bucket_id, max(size) AS size FROM pairs GROUP BY bucket_id) AS sizes
