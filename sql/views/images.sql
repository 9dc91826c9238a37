-- reads: items(item, label), released_items(released_item, item)
-- params: none
-- returns: item, released_item
-- grain: item
-- The released item of each item of the current data; NULL if it has none.
SELECT items.item, released_items.released_item
FROM items
LEFT JOIN released_items ON items.label = released_items.item
ORDER BY items.item
