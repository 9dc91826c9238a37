-- reads: items(item, label), members(released, label), supports(item, support)
-- params: none
-- returns: item, released, size
-- grain: item, released
-- The occurring released items that stand for each original item, and the number of items that each stands for.
WITH sizes AS (
    SELECT released, count(*) AS size FROM members GROUP BY released
)
SELECT items.item, members.released, sizes.size
FROM items
JOIN members ON items.label = members.label
JOIN sizes ON members.released = sizes.released
JOIN supports ON members.released = supports.item
