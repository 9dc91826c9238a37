-- reads: sets(id, copies), set_items(id, item), anchors(id, first_item, second_item)
-- params: k
-- returns: id, whole
-- grain: id, whole
-- For each distinct transaction with fewer than k copies, the longer ones that hold its two rarest items. Longer ones are
-- numbered first, so a superset has a smaller id.
SELECT anchors.id, a.id AS whole
FROM anchors
JOIN sets ON sets.id = anchors.id
JOIN set_items AS a ON a.item = anchors.first_item AND a.id < anchors.id
JOIN set_items AS b ON b.id = a.id AND b.item = anchors.second_item
WHERE sets.copies < getvariable('k')
