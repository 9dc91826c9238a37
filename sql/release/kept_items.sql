-- reads: kept_items(release_id, released_item, item)
-- params: release_id
-- returns: released_item, item
-- grain: released_item, item
-- The original items of each released item of a published release that was dropped or replaced.
SELECT released_item, item FROM kept_items WHERE release_id = getvariable('release_id')
