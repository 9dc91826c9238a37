-- reads: released_items(released_item, item), items(item, label)
-- params: none
-- returns: item
-- grain: item
-- The items of the data that share a released item with other items.
SELECT items.item
FROM items
JOIN released_items ON released_items.item = items.label
WHERE
    EXISTS (
        SELECT 1
        FROM released_items AS other
        WHERE other.released_item = released_items.released_item AND other.item <> released_items.item
    )
ORDER BY items.item
