-- reads: sets(id, items, length), set_items(id, item), anchors(id, first_item, second_item)
-- params: none
-- returns: id
-- grain: id
-- The distinct transactions that are a proper part of another. Longer ones come first, so that a superset has a smaller
-- id; only those that hold the two rarest items are looked at.
SELECT DISTINCT part.id
FROM anchors
JOIN sets AS part ON part.id = anchors.id
JOIN set_items AS a ON a.item = anchors.first_item AND a.id < anchors.id
JOIN set_items AS b ON b.id = a.id AND b.item = anchors.second_item
JOIN sets AS whole ON whole.id = b.id
WHERE whole.length > part.length AND list_has_all(whole.items, part.items)
