-- reads: shapes(id, items), basket_items(basket, item)
-- params: none
-- returns: id, basket
-- grain: id, basket
-- The distinct transactions that hold the two rarest items of each list.
SELECT shapes.id, rarest.basket
FROM shapes
JOIN basket_items AS rarest ON rarest.item = shapes.items[1]
JOIN basket_items AS next_rarest
    ON next_rarest.basket = rarest.basket AND next_rarest.item = shapes.items[least(2, len(shapes.items))]
