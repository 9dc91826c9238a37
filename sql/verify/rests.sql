-- reads: anchors(id, first_item, second_item), set_items(id, item)
-- params: none
-- returns: id, position, item
-- grain: id, item
-- The items of a transaction besides its anchor, the rarest first.
SELECT
    anchors.id,
    CAST(row_number() OVER (PARTITION BY anchors.id ORDER BY set_items.item) AS INTEGER) AS position,
    set_items.item
FROM anchors
JOIN set_items ON set_items.id = anchors.id
WHERE set_items.item <> anchors.first_item AND set_items.item <> anchors.second_item
