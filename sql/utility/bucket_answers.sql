-- reads: names(query_id, name), queries(query_id, item), items(item, label), members(value, bucket_id, column_id, copies, item), sizes(bucket_id, size), truths(set_id, support)
-- params: transactions
-- returns: query_id, items, truth, estimate, lower_bound, upper_bound, relative_error
-- grain: query_id
-- Each query's true count beside its estimate and bounds, from the buckets of an anatomy (docs/algorithms/metrics.md#are;
-- the proof of the bounds is in release/bucket_count_bounds.sql). Estimates are added as decimals, so the sum does
-- not depend on the order of rows.
WITH listed AS (
    SELECT queries.query_id, count(*) AS size, array_sort(list(items.label)) AS items
    FROM queries
    JOIN items ON queries.item = items.item
    GROUP BY queries.query_id
),
parts AS (
    SELECT queries.query_id, item_columns.column_id, count(*) AS wanted
    FROM queries
    JOIN (SELECT DISTINCT item, column_id FROM members) AS item_columns ON queries.item = item_columns.item
    GROUP BY queries.query_id, item_columns.column_id
),
shapes AS (
    SELECT query_id, count(*) AS n_columns, sum(wanted) AS covered FROM parts GROUP BY query_id
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
),
added AS (
    SELECT
        query_id,
        sum(lower_bound) AS lower_bound,
        sum(upper_bound) AS upper_bound,
        sum(CAST(least(greatest(estimate, CAST(lower_bound AS DOUBLE)), CAST(upper_bound AS DOUBLE)) AS DECIMAL(38, 15))) AS estimate
    FROM in_buckets
    GROUP BY query_id
),
answered AS (
    SELECT
        names.query_id AS position,
        names.name AS query_id,
        coalesce(listed.items, CAST([] AS VARCHAR[])) AS items,
        CASE WHEN listed.size IS NULL THEN getvariable('transactions') ELSE coalesce(truths.support, 0) END AS truth,
        CASE
            WHEN listed.size IS NULL THEN getvariable('transactions')
            WHEN shapes.covered = listed.size THEN coalesce(added.lower_bound, 0)
            ELSE 0
        END AS lower_bound,
        CASE
            WHEN listed.size IS NULL THEN CAST(getvariable('transactions') AS DOUBLE)
            WHEN shapes.covered = listed.size THEN coalesce(CAST(added.estimate AS DOUBLE), 0.0)
            ELSE 0.0
        END AS estimate,
        CASE
            WHEN listed.size IS NULL THEN getvariable('transactions')
            WHEN shapes.covered = listed.size THEN coalesce(added.upper_bound, 0)
            ELSE 0
        END AS upper_bound
    FROM names
    LEFT JOIN listed ON names.query_id = listed.query_id
    LEFT JOIN truths ON names.query_id = truths.set_id
    LEFT JOIN shapes ON names.query_id = shapes.query_id
    LEFT JOIN added ON names.query_id = added.query_id
)
SELECT
    query_id,
    items,
    CAST(truth AS BIGINT) AS truth,
    estimate,
    CAST(lower_bound AS BIGINT) AS lower_bound,
    CAST(upper_bound AS BIGINT) AS upper_bound,
    CASE WHEN truth > 0 THEN abs(truth - estimate) / truth END AS relative_error
FROM answered
ORDER BY position ASC
