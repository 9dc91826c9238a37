-- reads: shapes(id, items)
-- params: none
-- returns: id, item
-- grain: id, item
-- One row for each item of each list.
SELECT id, unnest(items) AS item FROM shapes
