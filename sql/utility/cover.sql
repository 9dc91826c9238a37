-- reads: items(item, label), members(released, label), supports(item, support)
-- params: none
-- returns: item, released, size
-- grain: item, released
-- Which released items that occur stand for each original item, and for how many items they stand in all.
WITH sizes AS (
    SELECT released, count(*) AS size FROM members GROUP BY released
)
SELECT items.item, members.released, sizes.size
FROM items
JOIN members ON items.label = members.label
JOIN sizes ON members.released = sizes.released
JOIN supports ON members.released = supports.item
