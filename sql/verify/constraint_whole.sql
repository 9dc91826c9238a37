-- reads: candidates(id, basket), shapes(id, items), shape_items(id, item), baskets(basket, copies), basket_items(basket, item)
-- params: none
-- returns: id, support
-- grain: id
-- The number of transactions that hold all items of a list, if any does.
SELECT matched.id, CAST(sum(baskets.copies) AS BIGINT) AS support
FROM (
    SELECT candidates.id, candidates.basket, count(basket_items.item) AS held
    FROM candidates
    JOIN shape_items ON shape_items.id = candidates.id
    JOIN basket_items ON basket_items.basket = candidates.basket AND basket_items.item = shape_items.item
    GROUP BY candidates.id, candidates.basket
) AS matched
JOIN shapes ON shapes.id = matched.id
JOIN baskets ON baskets.basket = matched.basket
WHERE matched.held = len(shapes.items)
GROUP BY matched.id
