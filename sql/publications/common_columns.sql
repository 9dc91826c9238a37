-- reads: first_buckets(column_id, items), second_buckets(column_id, items)
-- params: none
-- returns: released_item, cell
-- grain: released_item
-- The intersections of the columns of two anatomies, numbered. A part lies within one column of each; items that only one of
-- the anatomies has form separate parts.
WITH firsts AS (
    SELECT DISTINCT column_id, item FROM (SELECT column_id, unnest(items) AS item FROM first_buckets) AS listed
),
seconds AS (
    SELECT DISTINCT column_id, item FROM (SELECT column_id, unnest(items) AS item FROM second_buckets) AS listed
)
SELECT
    coalesce(firsts.item, seconds.item) AS released_item,
    CAST(dense_rank() OVER (ORDER BY firsts.column_id ASC, seconds.column_id ASC) AS INTEGER) AS cell
FROM firsts
FULL JOIN seconds ON firsts.item = seconds.item
