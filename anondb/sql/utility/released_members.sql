-- reads: released_items(released_item, item), codes(released, label)
-- params: none
-- returns: released, label
-- grain: released, label
-- The original items that each released item of an existing release stands for.
SELECT DISTINCT codes.released, released_items.item AS label
FROM released_items
JOIN codes ON released_items.released_item = codes.label
