-- reads: released_items(released_item, item), items(item, label)
-- params: none
-- returns: released, label
-- grain: released, label
-- The original items that each released item of an existing release stands for.
SELECT DISTINCT items.item AS released, released_items.item AS label
FROM released_items
JOIN items ON released_items.released_item = items.label
