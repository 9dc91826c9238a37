-- reads: buckets(bucket_id, column_id, items, copies), cells(released_item, cell)
-- params: none
-- returns: persons, content, shown
-- grain: value of buckets, cell
-- The values of an anatomy without their buckets, divided into parts that two anatomies have in common. Empty parts are
-- omitted: their number follows from the others and N.
WITH numbered AS (
    SELECT row_number() OVER (ORDER BY bucket_id ASC, column_id ASC, items ASC) AS row_id, items, copies FROM buckets
),
listed AS (
    SELECT row_id, copies, unnest(items) AS item FROM numbered
)
SELECT
    listed.copies AS persons,
    CAST(md5_number(CAST(list(listed.item ORDER BY listed.item ASC) AS TEXT)) >> 65 AS BIGINT) AS content,
    0 AS shown
FROM listed
JOIN cells ON listed.item = cells.released_item
GROUP BY listed.row_id, listed.copies, cells.cell
