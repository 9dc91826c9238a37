-- reads: source(id)
-- params: none
-- returns: query_id, id, name
-- grain: id
-- The owner's queries, numbered from 1 in the order of their ids; the name of a query is its id as text.
SELECT CAST(row_number() OVER (ORDER BY id) AS INTEGER) AS query_id, id, CAST(id AS VARCHAR) AS name
FROM (SELECT DISTINCT id FROM source) AS distinct_ids
