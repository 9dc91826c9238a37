-- reads: constraints(release, kind, ord, set_id, item)
-- params: release_id
-- returns: set_id, item
-- grain: set_id, item
-- The privacy constraints of a release in the order in which they were stated; Pgen's are one row without an item.
SELECT set_id, item
FROM constraints
WHERE release = getvariable('release_id') AND kind = 'privacy'
ORDER BY ord ASC, item ASC
