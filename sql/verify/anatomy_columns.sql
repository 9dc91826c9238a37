-- reads: vals(column_id, items)
-- params: none
-- returns: item, column_id
-- grain: item, column_id
-- The columns that each item occurs in: one, in an anatomy.
SELECT DISTINCT item, column_id FROM (SELECT unnest(items) AS item, column_id FROM vals) AS listed
