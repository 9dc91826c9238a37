-- reads: buckets(bucket_id, column_id, items, copies), asked(label, test, cap)
-- params: none
-- returns: bucket_id, column_id, signature, copies
-- grain: bucket_id, column_id, signature
-- The values of each bucket and column, counted by their numbers of items that pass each test, up to the cap: "0:1 2:3" is one
-- item that passes test 0 and three that pass test 2. Values without such items are omitted.
WITH vals AS (
    SELECT
        bucket_id, column_id, copies, items,
        row_number() OVER (ORDER BY bucket_id ASC, column_id ASC, items ASC) AS value
    FROM buckets
),
listed AS (
    SELECT value, bucket_id, column_id, copies, unnest(items) AS label FROM vals
),
counted AS (
    SELECT
        listed.value, listed.bucket_id, listed.column_id, listed.copies, asked.test,
        least(count(*), any_value(asked.cap)) AS n
    FROM listed
    JOIN asked ON listed.label = asked.label
    GROUP BY listed.value, listed.bucket_id, listed.column_id, listed.copies, asked.test
),
signed AS (
    SELECT
        bucket_id, column_id, copies,
        string_agg(CAST(test AS TEXT) || ':' || CAST(n AS TEXT), ' ' ORDER BY test ASC) AS signature
    FROM counted
    GROUP BY value, bucket_id, column_id, copies
)
SELECT bucket_id, column_id, signature, CAST(sum(copies) AS BIGINT) AS copies
FROM signed
GROUP BY bucket_id, column_id, signature
