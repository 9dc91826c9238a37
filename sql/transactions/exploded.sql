-- reads: source(id, items)
-- params: none
-- returns: id, item
-- grain: one row for each element of each list
-- The long form of a table with one list of items for each transaction; empty lists give no row.
SELECT id, unnest(items) AS item FROM source
