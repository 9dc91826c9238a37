-- reads: buckets(bucket_id, column_id, items, copies)
-- params: seed
-- returns: transaction_id, items
-- grain: transaction_id
-- The function reconstruct(seed) of an anatomy: one of the originals that the release may come from, for tools that read
-- transactions. In each bucket the values of every column are put in the order of a digest of the seed, the bucket, the
-- column and the copy, and joined by position: the same seed gives the same transactions, in DuckDB too.
WITH copied AS (
    SELECT buckets.bucket_id, buckets.column_id, buckets.items, twins.twin
    FROM buckets CROSS JOIN LATERAL generate_series(1, buckets.copies) AS twins (twin)
),
counted AS (
    SELECT
        copied.bucket_id, copied.column_id, copied.items,
        row_number() OVER (PARTITION BY copied.bucket_id, copied.column_id ORDER BY copied.items ASC, copied.twin ASC) AS copy
    FROM copied
),
placed AS (
    SELECT
        counted.bucket_id, counted.items,
        row_number() OVER (
            PARTITION BY counted.bucket_id, counted.column_id
            ORDER BY md5(concat_ws(':', CAST(getvariable('seed') AS TEXT), counted.bucket_id, counted.column_id, counted.copy)) COLLATE "C" ASC, counted.copy ASC
        ) AS place
    FROM counted
),
joined AS (
    SELECT
        placed.bucket_id, placed.place,
        array_agg(listed.label ORDER BY listed.label COLLATE "C" ASC) FILTER (WHERE listed.label IS NOT NULL) AS items
    FROM placed LEFT JOIN LATERAL unnest(placed.items) AS listed (label) ON true
    GROUP BY placed.bucket_id, placed.place
)
SELECT
    CAST(row_number() OVER (ORDER BY joined.bucket_id ASC, joined.place ASC) AS INTEGER) AS transaction_id,
    coalesce(joined.items, CAST(ARRAY[] AS TEXT[])) AS items
FROM joined
WHERE CASE
    WHEN getvariable('seed') IS NULL
        THEN CAST(concat('reconstruct: the seed is NULL. Give a number.') AS BOOLEAN)
    ELSE true
END
ORDER BY 1 ASC
