-- reads: buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: persons, content, shown
-- grain: content
-- The distinct buckets of an anatomy, without their numbers: a digest of the values of each with their copies and columns.
SELECT count(*) AS persons, content, 0 AS shown
FROM (
    SELECT
        CAST(md5_number(
            CAST(list(items ORDER BY column_id ASC, items ASC) AS TEXT)
            || CAST(list(copies ORDER BY column_id ASC, items ASC) AS TEXT)
            || CAST(list(column_id ORDER BY column_id ASC, items ASC) AS TEXT)
        ) >> 65 AS BIGINT) AS content
    FROM buckets
    GROUP BY bucket_id
) AS contents
GROUP BY content
