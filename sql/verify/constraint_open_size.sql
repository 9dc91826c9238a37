-- reads: open_lists(item, part), basket_items(basket, item)
-- params: none
-- returns: parts, rows_
-- grain: one row
-- The number of batches, and of occurrences in all of them.
SELECT coalesce(max(open_lists.part) + 1, 0) AS parts, count(basket_items.basket) AS rows_
FROM open_lists
JOIN basket_items ON basket_items.item = open_lists.item
