-- reads: buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: persons, items, copies, attribute_values
-- grain: items, copies, attribute_values
-- The distinct buckets of an anatomy, without their numbers: the values of each with their copies and columns.
SELECT count(*) AS persons, items, copies, attribute_values
FROM (
    SELECT
        list(items ORDER BY column_id ASC, items ASC) AS items,
        list(copies ORDER BY column_id ASC, items ASC) AS copies,
        list(column_id ORDER BY column_id ASC, items ASC) AS attribute_values
    FROM buckets
    GROUP BY bucket_id
) AS contents
GROUP BY items, copies, attribute_values
