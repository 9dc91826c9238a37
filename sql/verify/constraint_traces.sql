-- reads: open_lists(id, item, part), baskets(basket, copies), basket_items(basket, item)
-- params: part
-- returns: id, items, copies
-- grain: id, items
-- The parts of each list that transactions hold, and how many transactions hold exactly that part.
SELECT traces.id, traces.items, CAST(sum(baskets.copies) AS BIGINT) AS copies
FROM (
    SELECT open_lists.id, basket_items.basket, list(basket_items.item ORDER BY basket_items.item) AS items
    FROM open_lists
    JOIN basket_items ON basket_items.item = open_lists.item
    WHERE open_lists.part = getvariable('part')
    GROUP BY open_lists.id, basket_items.basket
) AS traces
JOIN baskets ON baskets.basket = traces.basket
GROUP BY traces.id, traces.items
