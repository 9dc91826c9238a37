-- reads: kept_buckets(release_id, bucket_id, column_id, items, copies)
-- params: release_id
-- returns: bucket_id, column_id, items, copies
-- grain: bucket_id, column_id, items
-- The buckets of a published anatomy that was dropped or replaced.
SELECT bucket_id, column_id, items, copies FROM kept_buckets WHERE release_id = getvariable('release_id')
