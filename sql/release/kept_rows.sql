-- reads: kept_rows(release_id, persons, items, copies, attribute_values)
-- params: release_id
-- returns: persons, items, copies, attribute_values
-- grain: items, copies, attribute_values
-- The distinct rows of a published release that was dropped or replaced.
SELECT persons, items, copies, attribute_values FROM kept_rows WHERE release_id = getvariable('release_id')
