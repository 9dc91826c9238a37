-- reads: items(item, label), released_items(released_item, item)
-- params: none
-- returns: item, released_item
-- grain: item
-- What a release publishes for each item of the data as they are now; NULL where no released item stands for it.
SELECT items.item, released_items.released_item
FROM items
LEFT JOIN released_items ON items.label = released_items.item
ORDER BY items.item
