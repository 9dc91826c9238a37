-- reads: sets(id, items)
-- params: none
-- returns: id, item
-- grain: id, item
-- The distinct transactions in long form.
SELECT id, unnest(items) AS item FROM sets
