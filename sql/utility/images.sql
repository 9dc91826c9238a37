-- reads: queries(query_id, item), cover(item, released, size)
-- params: none
-- returns: query_id, released, size, queried
-- grain: query_id, released
-- The released items of each query, and how many items of the query each of them stands for.
SELECT queries.query_id, cover.released, cover.size, count(*) AS queried
FROM queries
JOIN cover ON queries.item = cover.item
GROUP BY queries.query_id, cover.released, cover.size
