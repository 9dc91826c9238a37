-- reads: set_items(id, item)
-- params: none
-- returns: id, first_item, second_item
-- grain: id
-- The two items of each distinct transaction that the fewest distinct transactions hold; of a single item both are that
-- item. Every superset holds both.
WITH supports AS (
    SELECT item, count(id) AS support FROM set_items GROUP BY item
),
ranked AS (
    SELECT
        set_items.id,
        set_items.item,
        row_number() OVER (PARTITION BY set_items.id ORDER BY supports.support, set_items.item) AS place
    FROM set_items
    JOIN supports ON supports.item = set_items.item
)
SELECT
    id,
    max(CASE WHEN place = 1 THEN item END) AS first_item,
    coalesce(max(CASE WHEN place = 2 THEN item END), max(item)) AS second_item
FROM ranked
WHERE place <= 2
GROUP BY id
