-- reads: record_digests(release, fingerprint)
-- params: release_id
-- returns: fingerprint
-- grain: one row for each release
-- The digest of the records that a release was made with.
SELECT fingerprint FROM record_digests WHERE release = getvariable('release_id')
