-- reads: items(item, label), released_items(released_item, item)
-- params: none
-- returns: label, released
-- grain: label, released
-- Every original item with each released item that stands for it.
SELECT released_items.item AS label, items.item AS released
FROM released_items
JOIN items ON items.label = released_items.released_item
ORDER BY released_items.item, items.item
