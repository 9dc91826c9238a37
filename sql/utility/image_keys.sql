-- reads: images(query_id, released)
-- params: none
-- returns: query_id, set_id
-- grain: query_id
-- Gives queries with the same released items the same number, so that each set is counted once.
SELECT query_id, CAST(dense_rank() OVER (ORDER BY released_list) AS INTEGER) AS set_id
FROM (SELECT query_id, array_sort(list(released)) AS released_list FROM images GROUP BY query_id) AS listed
