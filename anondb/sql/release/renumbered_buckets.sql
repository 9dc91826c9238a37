-- reads: buckets(bucket_id, column_id, items, copies), numbered(tid, transaction_id)
-- params: none
-- returns: bucket_id, column_id, length, copies
-- grain: bucket_id, column_id, items
-- Frozen values under new numbers of buckets, sorted by number, column and content, with the length of each.
SELECT numbered.transaction_id AS bucket_id, buckets.column_id, len(buckets.items) AS length, buckets.copies
FROM buckets
JOIN numbered ON buckets.bucket_id = numbered.tid
ORDER BY numbered.transaction_id ASC, buckets.column_id ASC, buckets.items ASC
