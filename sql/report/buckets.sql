-- reads: buckets(bucket_id, column_id, copies)
-- params: none
-- returns: buckets, columns, smallest, largest
-- grain: one row
-- The buckets and columns of an anatomy, and how many transactions its smallest and largest bucket have.
WITH sizes AS (
    SELECT bucket_id, column_id, sum(copies) AS size FROM buckets GROUP BY bucket_id, column_id
)
SELECT
    count(DISTINCT bucket_id) AS buckets,
    count(DISTINCT column_id) AS columns,
    coalesce(min(size), 0) AS smallest,
    coalesce(max(size), 0) AS largest
FROM sizes
