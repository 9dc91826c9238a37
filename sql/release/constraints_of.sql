-- reads: constraints(release, kind, ord, set_id, item)
-- params: release_id
-- returns: kind, ord, set_id, item
-- grain: kind, set_id, item
-- The owner's constraints of a release, in order: privacy and utility constraints, countable sets, weights (in place of a
-- set's id). The constraints of Pgen are one row without an item.
SELECT kind, ord, set_id, item
FROM constraints
WHERE release = getvariable('release_id')
ORDER BY kind ASC, ord ASC, item ASC
