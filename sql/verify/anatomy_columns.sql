-- reads: vals(column_id, items)
-- params: none
-- returns: item, column_id
-- grain: item, column_id
-- The columns in which each item occurs; a single one in an anatomy.
SELECT DISTINCT item, column_id FROM (SELECT unnest(items) AS item, column_id FROM vals) AS listed
