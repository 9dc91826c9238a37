-- reads: buckets(bucket_id, column_id, items, copies), in_place(passed)
-- params: seed
-- returns: transaction_id, items
-- grain: transaction_id
-- The macro reconstruct(seed) of an anatomy: one of the originals that the release may come from, for tools that read
-- transactions. In each bucket the values of every column are put in the order of a digest of the seed, the bucket, the
-- column and the copy, and joined by position: the same seed gives the same transactions, in any client.
WITH checked AS (
    SELECT
        CASE
            WHEN NOT in_place.passed THEN false
            WHEN getvariable('seed') IS NULL THEN error('reconstruct: the seed is NULL. Give a number.')
            ELSE true
        END AS passed
    FROM in_place
),
copied AS (
    SELECT bucket_id, column_id, items, unnest(range(CAST(copies AS BIGINT))) AS twin FROM buckets
),
counted AS (
    SELECT
        bucket_id, column_id, items,
        row_number() OVER (PARTITION BY bucket_id, column_id ORDER BY items ASC NULLS LAST, twin ASC NULLS LAST) AS copy
    FROM copied
),
placed AS (
    SELECT
        bucket_id, items,
        row_number() OVER (
            PARTITION BY bucket_id, column_id
            ORDER BY md5(concat_ws(':', CAST(getvariable('seed') AS TEXT), bucket_id, column_id, copy)) ASC NULLS LAST, copy ASC NULLS LAST
        ) AS place
    FROM counted
),
joined AS (
    SELECT bucket_id, place, flatten(list(items)) AS items FROM placed GROUP BY bucket_id, place
)
SELECT
    CAST(row_number() OVER (ORDER BY joined.bucket_id ASC NULLS LAST, joined.place ASC NULLS LAST) AS INTEGER) AS transaction_id,
    list_transform(
        main.list_sort(list_transform(joined.items, lambda label : encode(label)), 'ASC', 'NULLS LAST'),
        lambda label : decode(label)
    ) AS items
FROM joined
CROSS JOIN checked
WHERE checked.passed
ORDER BY transaction_id ASC NULLS LAST
