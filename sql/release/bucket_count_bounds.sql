-- reads: buckets(bucket_id, column_id, items, copies), checked(passed)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The macro count_bounds(items) of an anatomy: how many original transactions hold all of the items.
--
-- Proof. The items of the query lie in r columns. In a bucket of s transactions, n_j of the values of column j hold the
-- query's items of that column. The release says which values a column has in a bucket, and nothing of which of them belong
-- to the same transaction: every way to put the s values of each column side by side is an original that it may come
-- from, and buckets are independent of each other. So a column is s places of which any n_j may be marked, and the count of
-- the bucket is the number of places that are marked in all r columns.
-- * Upper bound: no more than the smallest n_j. It is attained by marking in each column the first n_j places.
-- * Lower bound: s - n_j places are not marked in column j, so at most the sum of these is not marked somewhere, and at
--   least s - sum of (s - n_j) = (sum of n_j) - (r - 1) s are marked everywhere, and never fewer than 0. It is attained by
--   laying the unmarked places of one column after those of the other, as long as there are places left.
-- The bounds of the release are the sums over its buckets, attained by one original. With r = 0, [] gives N; with r = 1
-- both bounds are the true count. An item of no column is in no transaction, since nothing is suppressed.
-- The estimate takes all ways as equally likely: s x product of n_j / s. It is held within the bounds of its bucket, where
-- it lies but for rounding, and added up in an order that no numbering changes.
WITH asked AS (
    SELECT CAST(getvariable('items') AS TEXT[]) AS labels
),
wanted AS (
    SELECT DISTINCT decode(encode(label)) AS item FROM (SELECT unnest(labels) AS label FROM asked) AS listed
),
held AS (
    SELECT buckets.bucket_id, buckets.column_id, buckets.items AS members, buckets.copies
    FROM buckets CROSS JOIN asked
    WHERE list_has_any(buckets.items, asked.labels)
),
placed AS (
    SELECT DISTINCT listed.column_id, listed.item
    FROM (SELECT column_id, unnest(held.members) AS item FROM held) AS listed
    WHERE listed.item IN (SELECT wanted.item FROM wanted)
),
parts AS (
    SELECT column_id, list(item) AS members FROM placed GROUP BY column_id
),
query AS (
    SELECT
        (SELECT count(*) FROM parts) AS n_columns,
        (SELECT count(*) FROM placed) < (SELECT count(*) FROM wanted) AS has_unknown
),
sizes AS (
    SELECT bucket_id, sum(copies) AS size
    FROM buckets
    WHERE column_id = (SELECT min(first.column_id) FROM buckets AS first)
    GROUP BY bucket_id
),
holding AS (
    SELECT held.bucket_id, held.column_id, sum(held.copies) AS n
    FROM held
    JOIN parts ON held.column_id = parts.column_id AND list_has_all(held.members, parts.members)
    GROUP BY held.bucket_id, held.column_id
),
in_buckets AS (
    SELECT
        greatest(sum(holding.n) - (query.n_columns - 1) * sizes.size, 0) AS lower_bound,
        min(holding.n) AS upper_bound,
        sizes.size * product(holding.n / CAST(sizes.size AS DOUBLE) ORDER BY holding.n ASC) AS estimate
    FROM holding
    JOIN sizes ON holding.bucket_id = sizes.bucket_id
    CROSS JOIN query
    GROUP BY holding.bucket_id, sizes.size, query.n_columns
    HAVING count(*) = query.n_columns
),
added AS (
    SELECT
        sum(lower_bound) AS lower_bound,
        sum(
            least(greatest(estimate, CAST(lower_bound AS DOUBLE)), CAST(upper_bound AS DOUBLE))
            ORDER BY lower_bound ASC, upper_bound ASC, estimate ASC
        ) AS estimate,
        sum(upper_bound) AS upper_bound
    FROM in_buckets
),
counted AS (
    SELECT
        CASE
            WHEN query.has_unknown THEN 0
            WHEN query.n_columns = 0 THEN (SELECT sum(size) FROM sizes)
            ELSE added.lower_bound
        END AS lower_bound,
        CASE
            WHEN query.has_unknown THEN 0
            WHEN query.n_columns = 0 THEN (SELECT sum(size) FROM sizes)
            ELSE added.estimate
        END AS estimate,
        CASE
            WHEN query.has_unknown THEN 0
            WHEN query.n_columns = 0 THEN (SELECT sum(size) FROM sizes)
            ELSE added.upper_bound
        END AS upper_bound
    FROM query CROSS JOIN added
)
SELECT
    CAST(coalesce(counted.lower_bound, 0) AS BIGINT) AS lower_bound,
    CAST(coalesce(counted.estimate, 0) AS DOUBLE) AS estimate,
    CAST(coalesce(counted.upper_bound, 0) AS BIGINT) AS upper_bound
FROM counted
CROSS JOIN checked
WHERE checked.passed
