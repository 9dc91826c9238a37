-- reads: items(item, label), first_members(released_item, item), second_members(released_item, item)
-- params: none
-- returns: item, joint, first_item, second_item
-- grain: item
-- The pair of released items of each item of the data in two releases, numbered; NULL if a release has none. Items without a
-- released item in both are omitted: attackers learn nothing from them.
SELECT
    items.item,
    CAST(dense_rank() OVER (ORDER BY first_members.released_item ASC, second_members.released_item ASC) AS INTEGER) AS joint,
    first_members.released_item AS first_item,
    second_members.released_item AS second_item
FROM items
LEFT JOIN first_members ON items.label = first_members.item
LEFT JOIN second_members ON items.label = second_members.item
WHERE first_members.released_item IS NOT NULL OR second_members.released_item IS NOT NULL
