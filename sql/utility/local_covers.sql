-- reads: items(item, label), members(released, label)
-- params: none
-- returns: item, released
-- grain: item, released
-- The released items that stand for the items of a workload in a local recoding.
SELECT items.item, members.released
FROM items
JOIN members ON items.label = members.label
ORDER BY 1 ASC, 2 ASC
