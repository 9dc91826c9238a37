-- reads: partitions(release_id, column_name, value, kind)
-- params: release_id
-- returns: column_name, value, kind
-- grain: one row, or none
-- The part of a partitioned view that a release is.
SELECT column_name, value, kind FROM partitions WHERE release_id = getvariable('release_id')
