-- reads: places(place)
-- params: none
-- returns: last_place
-- grain: one row
-- The last place of the longest transaction.
SELECT CAST(coalesce(max(place), 0) AS BIGINT) AS last_place FROM places
