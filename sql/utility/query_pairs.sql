-- reads: source(id, item), names(query_id, id), items(item, label)
-- params: none
-- returns: query_id, item
-- grain: query_id, item
-- The owner's queries as integers, each item of a query once.
SELECT DISTINCT names.query_id, items.item
FROM source
JOIN names ON source.id = names.id
JOIN items ON source.item = items.label
ORDER BY 1, 2
