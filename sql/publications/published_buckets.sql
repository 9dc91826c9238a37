-- reads: buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: persons, digest
-- grain: digest
-- The distinct buckets of an anatomy, without their numbers: a digest of the values of each with their copies and columns.
SELECT count(*) AS persons, digest
FROM (
    SELECT
        md5_number(
            CAST(list(items ORDER BY column_id ASC, items ASC) AS TEXT)
            || CAST(list(copies ORDER BY column_id ASC, items ASC) AS TEXT)
            || CAST(list(column_id ORDER BY column_id ASC, items ASC) AS TEXT)
        ) AS digest
    FROM buckets
    GROUP BY bucket_id
) AS contents
GROUP BY digest
