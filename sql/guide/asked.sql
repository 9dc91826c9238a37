-- reads: queries(query_id, item), items(item, label)
-- params: size
-- returns: query_id, item
-- grain: query_id, item
-- Drawn queries of a size with labels, as an owner's workload has them.
SELECT concat(CAST(getvariable('size') AS VARCHAR), '-', CAST(queries.query_id AS VARCHAR)) AS query_id, items.label AS item
FROM queries
JOIN items ON queries.item = items.item
