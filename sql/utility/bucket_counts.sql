-- reads: queries(query_id, item), members(value, bucket_id, column_id, copies, item), sizes(bucket_id, size)
-- params: none
-- returns: query_id, lower_bound, upper_bound, estimate
-- grain: query_id
-- Estimate and bounds of each query that some transaction may hold, from the buckets of an anatomy (docs/algorithms/metrics.md#are;
-- the proof of the bounds is in release/bucket_count_bounds.sql). Estimates are added as decimals, so the sum does
-- not depend on the order of rows.
WITH wanted AS (
    SELECT query_id, count(*) AS size FROM queries GROUP BY query_id
),
parts AS (
    SELECT queries.query_id, item_columns.column_id, count(*) AS wanted
    FROM queries
    JOIN (SELECT DISTINCT item, column_id FROM members) AS item_columns ON queries.item = item_columns.item
    GROUP BY queries.query_id, item_columns.column_id
),
shapes AS (
    SELECT parts.query_id, count(*) AS n_columns
    FROM parts
    JOIN wanted ON parts.query_id = wanted.query_id
    GROUP BY parts.query_id
    HAVING sum(parts.wanted) = any_value(wanted.size)
),
hits AS (
    SELECT queries.query_id, members.column_id, members.bucket_id, members.value, any_value(members.copies) AS copies, count(*) AS held
    FROM queries
    JOIN members ON queries.item = members.item
    GROUP BY queries.query_id, members.column_id, members.bucket_id, members.value
),
holding AS (
    SELECT hits.query_id, hits.column_id, hits.bucket_id, sum(hits.copies) AS n
    FROM hits
    JOIN parts ON hits.query_id = parts.query_id AND hits.column_id = parts.column_id AND hits.held = parts.wanted
    GROUP BY hits.query_id, hits.column_id, hits.bucket_id
),
in_buckets AS (
    SELECT
        holding.query_id,
        greatest(sum(holding.n) - (any_value(shapes.n_columns) - 1) * any_value(sizes.size), 0) AS lower_bound,
        min(holding.n) AS upper_bound,
        any_value(sizes.size) * product(holding.n / CAST(sizes.size AS DOUBLE) ORDER BY holding.n ASC) AS estimate
    FROM holding
    JOIN shapes ON holding.query_id = shapes.query_id
    JOIN sizes ON holding.bucket_id = sizes.bucket_id
    GROUP BY holding.query_id, holding.bucket_id
    HAVING count(*) = any_value(shapes.n_columns)
)
SELECT
    query_id,
    sum(lower_bound) AS lower_bound,
    sum(upper_bound) AS upper_bound,
    CAST(
        sum(CAST(least(greatest(estimate, CAST(lower_bound AS DOUBLE)), CAST(upper_bound AS DOUBLE)) AS DECIMAL(38, 15))) AS DOUBLE
    ) AS estimate
FROM in_buckets
GROUP BY query_id
