-- reads: possible(id, length, superset), rests(id, position, item), set_items(id, item)
-- params: position
-- returns: id, length, superset
-- grain: id, superset
-- The possible supersets that hold the item at the position, if the transaction has one.
SELECT possible.id, possible.length, possible.superset
FROM possible
LEFT JOIN rests ON rests.id = possible.id AND rests.position = getvariable('position')
LEFT JOIN set_items ON set_items.id = possible.superset AND set_items.item = rests.item
WHERE rests.id IS NULL OR set_items.id IS NOT NULL
