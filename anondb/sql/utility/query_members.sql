-- reads: names(query_id, name), queries(query_id, item), items(item, label)
-- params: none
-- returns: query_id, label
-- grain: query_id, label
-- The items of every query by label; one row with NULL for a query without items.
SELECT names.query_id, items.label
FROM names
LEFT JOIN queries ON names.query_id = queries.query_id
LEFT JOIN items ON queries.item = items.item
ORDER BY names.query_id ASC, items.label ASC
