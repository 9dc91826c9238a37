-- reads: queries(query_id)
-- params: none
-- returns: query_id, name
-- grain: query_id
-- The numbers of unnamed queries as their names.
SELECT query_id, CAST(query_id AS VARCHAR) AS name FROM (SELECT DISTINCT query_id FROM queries) AS distinct_queries
