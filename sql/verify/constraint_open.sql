-- reads: shapes(id, items), whole(id, support), basket_items(basket, item)
-- params: chunk
-- returns: id, item, part
-- grain: id, item
-- The lists that no transaction holds whole, whose parts must be checked, in batches with a bounded number of
-- occurrences.
WITH open_lists AS (
    SELECT shapes.id, unnest(shapes.items) AS item
    FROM shapes
    WHERE NOT EXISTS (SELECT 1 FROM whole WHERE whole.id = shapes.id)
),
supports AS (
    SELECT item, count(basket) AS support FROM basket_items GROUP BY item
)
SELECT
    open_lists.id,
    open_lists.item,
    CAST(sum(supports.support) OVER (ORDER BY open_lists.id) // getvariable('chunk') AS INTEGER) AS part
FROM open_lists
JOIN supports ON supports.item = open_lists.item
