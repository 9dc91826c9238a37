-- reads: partitions(release_id, column_name, value, kind, digest), views(name, release_id), releases(name, release_id, transactions, status, created)
-- params: none
-- returns: view_name, release_name, release_id, column_name, value, kind, digest, transactions
-- grain: release_id
-- The present releases of partitioned views.
SELECT
    views.name AS view_name,
    releases.name AS release_name,
    partitions.release_id,
    partitions.column_name,
    partitions.value,
    partitions.kind,
    partitions.digest,
    releases.transactions
FROM partitions
JOIN views ON partitions.release_id = views.release_id
JOIN releases ON partitions.release_id = releases.release_id
WHERE releases.status = 'present'
ORDER BY releases.created, partitions.value
