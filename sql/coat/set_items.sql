-- reads: sets(id, items)
-- params: none
-- returns: id, item
-- grain: id, item
-- One row for each item of each distinct transaction.
SELECT id, unnest(items) AS item FROM sets
