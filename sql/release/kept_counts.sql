-- reads: kept_counts(release_id, item, lower_bound, upper_bound)
-- params: release_id
-- returns: item, lower_bound, upper_bound
-- grain: item
-- What a published release that was dropped or replaced said of each item.
SELECT item, lower_bound, upper_bound FROM kept_counts WHERE release_id = getvariable('release_id')
