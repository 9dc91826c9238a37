-- reads: sensitive_items(release, item)
-- params: release_id
-- returns: item
-- grain: item
-- The sensitive items that a release was made with.
SELECT item FROM sensitive_items WHERE release = getvariable('release_id') ORDER BY item ASC
