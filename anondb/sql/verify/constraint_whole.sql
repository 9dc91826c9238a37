-- reads: shapes(id, items), baskets(basket, items, copies), basket_items(basket, item)
-- params: none
-- returns: id, support
-- grain: id
-- How many transactions hold a whole list, where any does; looked for among those that hold its two rarest items.
SELECT shapes.id, CAST(sum(baskets.copies) AS BIGINT) AS support
FROM shapes
JOIN basket_items AS rarest ON rarest.item = shapes.items[1]
JOIN basket_items AS next_rarest
    ON next_rarest.basket = rarest.basket AND next_rarest.item = shapes.items[least(2, len(shapes.items))]
JOIN baskets ON baskets.basket = rarest.basket
WHERE list_has_all(baskets.items, shapes.items)
GROUP BY shapes.id
