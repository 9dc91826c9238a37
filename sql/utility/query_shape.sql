-- reads: names(query_id), queries(query_id, item)
-- params: none
-- returns: queries, smallest, largest
-- grain: one row
-- The number of queries, and the number of items of the smallest and the largest.
WITH sizes AS (
    SELECT names.query_id, count(queries.item) AS size
    FROM names
    LEFT JOIN queries ON names.query_id = queries.query_id
    GROUP BY names.query_id
)
SELECT count(*) AS queries, coalesce(min(size), 0) AS smallest, coalesce(max(size), 0) AS largest FROM sizes
