-- reads: anchors(id, length, first_item, second_item, part), anchored(first_item, second_item, id), sets(id, length)
-- params: part
-- returns: id, length, superset
-- grain: id, superset
-- For the transactions of a part, the longer ones that hold their anchor.
SELECT anchors.id, anchors.length, anchored.id AS superset
FROM anchors
JOIN anchored ON anchored.first_item = anchors.first_item AND anchored.second_item = anchors.second_item
JOIN sets ON sets.id = anchored.id AND sets.length > anchors.length
WHERE anchors.part = getvariable('part')
