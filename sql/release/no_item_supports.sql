-- reads: released_items(released_item, item)
-- params: none
-- returns: released_item, item, at_least, at_most
-- grain: released_item, item
-- The item supports of a release that has none.
SELECT members.released_item, members.item, CAST(NULL AS BIGINT) AS at_least, CAST(NULL AS BIGINT) AS at_most
FROM released_items AS members
WHERE false
