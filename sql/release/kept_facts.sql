-- reads: kept_facts(release_id, key, value)
-- params: release_id
-- returns: key, value
-- grain: key
-- The manifest and other facts of a published release that was dropped or replaced.
SELECT key, value FROM kept_facts WHERE release_id = getvariable('release_id') ORDER BY key ASC
