-- reads: queries(query_id, item)
-- params: none
-- returns: query_id, item
-- grain: query_id, item
-- The items of each query.
SELECT query_id, item FROM queries ORDER BY query_id ASC, item ASC
