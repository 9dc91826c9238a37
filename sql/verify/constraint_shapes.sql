-- reads: lists(items)
-- params: none
-- returns: id, items
-- grain: id
-- The distinct lists, numbered; after generalization many constraints have the same image.
SELECT CAST(row_number() OVER (ORDER BY items) AS INTEGER) AS id, items FROM (SELECT DISTINCT items FROM lists) AS shapes
