-- reads: pairs(bucket_id, size), violations(bucket_id)
-- params: none
-- returns: pairs, violations, transactions
-- grain: one row
-- How many pairs were checked, how many break the promise, and how many transactions all buckets hold.
SELECT
    (SELECT count(*) FROM pairs) AS pairs,
    (SELECT count(*) FROM violations) AS violations,
    coalesce(CAST(sum(sizes.size) AS BIGINT), 0) AS transactions
FROM (SELECT bucket_id, max(size) AS size FROM pairs GROUP BY bucket_id) AS sizes
