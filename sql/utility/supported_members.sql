-- reads: members(released, label), coded(item, label), items(item, label), item_supports(released_item, item, at_least, at_most, weight)
-- params: none
-- returns: released, item, at_least, at_most, weight
-- grain: released, item
-- The members of each released item with their item supports, -1 where they have none, in the order of released items. item is
-- the number of the member in the data, -1 where the data lack it.
SELECT
    members.released,
    coalesce(items.item, -1) AS item,
    coalesce(item_supports.at_least, -1) AS at_least,
    coalesce(item_supports.at_most, -1) AS at_most,
    coalesce(item_supports.weight, 1) AS weight
FROM members
JOIN coded ON members.released = coded.item
LEFT JOIN items ON members.label = items.label
LEFT JOIN item_supports ON coded.label = item_supports.released_item AND members.label = item_supports.item
ORDER BY members.released ASC
