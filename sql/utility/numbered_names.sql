-- reads: queries(query_id)
-- params: none
-- returns: query_id, name
-- grain: query_id
-- Names of queries that have none of their own: their numbers.
SELECT query_id, CAST(query_id AS VARCHAR) AS name FROM (SELECT DISTINCT query_id FROM queries) AS distinct_queries
