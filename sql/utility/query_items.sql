-- reads: source(item), items(item, label)
-- params: n_items
-- returns: item, label
-- grain: item
-- The items of the owner's queries: those of the data keep their numbers, the others are numbered after them.
WITH wanted AS (
    SELECT DISTINCT item AS label FROM source WHERE item IS NOT NULL
),
unknown AS (
    SELECT label FROM wanted WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.label = wanted.label)
)
SELECT items.item, items.label FROM items JOIN wanted ON items.label = wanted.label
UNION ALL
SELECT CAST(getvariable('n_items') + row_number() OVER (ORDER BY label) - 1 AS INTEGER) AS item, label FROM unknown
