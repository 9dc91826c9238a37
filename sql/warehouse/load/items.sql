-- reads: source(item)
-- params: none
-- returns: item, label
-- grain: item
-- The dictionary of items: dense numbers from 0 in code-point order of the labels (the tie rule of
-- docs/algorithms/conventions.md#ties).
SELECT CAST(row_number() OVER (ORDER BY item) - 1 AS INTEGER) AS item, item AS label
FROM (SELECT DISTINCT item FROM source WHERE item IS NOT NULL) AS distinct_items
