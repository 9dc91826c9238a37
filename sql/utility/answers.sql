-- reads: names(query_id, name), queries(query_id, item), items(item, label), images(query_id, released, size, queried), keys(query_id, set_id), counts(set_id, support), truths(set_id, support)
-- params: transactions, suppressed, product
-- returns: query_id, items, truth, estimate, lower_bound, upper_bound, relative_error
-- grain: query_id
-- Each query's true count beside its estimate and bounds (docs/algorithms/metrics.md#are; all non-empty subsets of a
-- released item's members are equally likely). Logarithms are added as decimals, so the sum is exact and does not depend on
-- the order of rows. Exponents are negative, because 2^size overflows from size 1,024.
WITH listed AS (
    SELECT queries.query_id, count(*) AS size, array_sort(list(items.label)) AS items
    FROM queries
    JOIN items ON queries.item = items.item
    GROUP BY queries.query_id
),
logarithms AS (
    SELECT
        query_id,
        size,
        queried,
        CASE
            WHEN size = 1 THEN 0.0
            WHEN getvariable('product') THEN -queried * (ln(2.0) + ln(1.0 - pow(2.0, -size)))
            ELSE -queried * ln(2.0) - ln(1.0 - pow(2.0, -size))
        END AS logarithm
    FROM images
),
shares AS (
    SELECT
        query_id,
        sum(queried) AS covered,
        max(size) AS largest,
        exp(CAST(sum(CAST(logarithm AS DECIMAL(38, 18))) AS DOUBLE)) AS share
    FROM logarithms
    GROUP BY query_id
),
counted AS (
    SELECT
        names.query_id,
        names.name,
        coalesce(listed.items, CAST([] AS VARCHAR[])) AS items,
        CASE WHEN listed.size IS NULL THEN getvariable('transactions') ELSE coalesce(truths.support, 0) END AS truth,
        CASE WHEN keys.set_id IS NULL THEN getvariable('transactions') ELSE coalesce(counts.support, 0) END AS holders,
        coalesce(shares.share, 1.0) AS share,
        coalesce(shares.largest, 1) AS largest,
        coalesce(shares.covered, 0) = coalesce(listed.size, 0) AS complete
    FROM names
    LEFT JOIN listed ON names.query_id = listed.query_id
    LEFT JOIN truths ON names.query_id = truths.set_id
    LEFT JOIN shares ON names.query_id = shares.query_id
    LEFT JOIN keys ON names.query_id = keys.query_id
    LEFT JOIN counts ON keys.set_id = counts.set_id
),
answered AS (
    SELECT
        query_id AS position,
        name AS query_id,
        items,
        CAST(truth AS BIGINT) AS truth,
        CASE WHEN complete THEN holders * share ELSE 0.0 END AS estimate,
        CAST(CASE WHEN complete AND largest = 1 THEN holders ELSE 0 END AS BIGINT) AS lower_bound,
        CAST(CASE WHEN complete OR getvariable('suppressed') THEN holders ELSE 0 END AS BIGINT) AS upper_bound
    FROM counted
)
SELECT
    query_id,
    items,
    truth,
    estimate,
    lower_bound,
    upper_bound,
    CASE WHEN truth > 0 THEN abs(truth - estimate) / truth END AS relative_error
FROM answered
ORDER BY position
