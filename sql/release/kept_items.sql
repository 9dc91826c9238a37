-- reads: kept_items(release_id, released_item, item)
-- params: release_id
-- returns: released_item, item
-- grain: released_item, item
-- What the released items of a published release stood for that was dropped or replaced.
SELECT released_item, item FROM kept_items WHERE release_id = getvariable('release_id')
