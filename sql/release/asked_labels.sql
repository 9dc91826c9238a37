-- reads: wanted(item), released_items(released_item, item)
-- params: none
-- returns: released_item
-- grain: released_item
-- The released items that stand for wanted items.
SELECT DISTINCT members.released_item
FROM released_items AS members
JOIN wanted ON members.item = wanted.item
