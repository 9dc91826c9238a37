-- reads: set_items(id, item), anchors(first_item, second_item)
-- params: none
-- returns: first_item, second_item, id
-- grain: first_item, second_item, id
-- The distinct transactions that hold the anchor of some transaction.
SELECT wanted.first_item, wanted.second_item, a.id
FROM set_items AS a
JOIN set_items AS b ON a.id = b.id AND a.item < b.item
JOIN (SELECT DISTINCT first_item, second_item FROM anchors) AS wanted
    ON wanted.first_item = a.item AND wanted.second_item = b.item
