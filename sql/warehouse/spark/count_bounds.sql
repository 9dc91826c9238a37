-- reads: expected(item_id, released_item, item, support, at_least, at_most, expected), wanted(item), manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the table function count_bounds(items) of Spark, which can filter by its parameter but neither unnest nor aggregate
-- it, and has no recursion before Spark 4.1. The bounds and the estimate are those of sql/release/count_bounds.sql, which has the proof.
-- The CASE refuses what is no list of items: the error is a cast of its text, which only runs where it is needed.
WITH members AS (
    SELECT
        expected.item_id, expected.released_item, expected.support, wanted.item IS NOT NULL AS queried, expected.at_least,
        expected.at_most,
        CASE WHEN expected.support > 0 THEN expected.expected / expected.support ELSE CAST(0 AS DOUBLE) END AS share
    FROM expected
    LEFT JOIN wanted ON expected.item = wanted.item
),
summed AS (
    SELECT
        item_id,
        count(*) FILTER (WHERE queried) AS queried,
        sum(support - at_least) FILTER (WHERE queried) AS slack,
        min(at_most) FILTER (WHERE queried) AS most,
        sum(at_most) - max(support) AS excess,
        min(share) FILTER (WHERE queried) AS least_share,
        sum(ln(CASE WHEN share > 0 THEN share END)) FILTER (WHERE queried) AS logarithm,
        list(share) AS shares,
        sum(share) AS total
    FROM members
    GROUP BY item_id, released_item
    HAVING count(*) FILTER (WHERE queried) > 0
),
blocks AS (
    SELECT
        item_id, queried, slack,
        CASE
            WHEN queried > 1 THEN least(most, CAST(floor(excess / CAST(greatest(queried - 1, 1) AS DOUBLE)) AS BIGINT))
            ELSE most
        END AS most,
        CASE WHEN least_share > 0 THEN exp(logarithm) ELSE 0 END
        * CASE
            WHEN queried > 1 AND total <= 1.000001 THEN 0
            WHEN queried > 1 THEN pow(
                list_reduce(
                    range(2, 41),
                    lambda weight, step: weight + CASE
                        WHEN 1 - list_reduce(
                            shares, lambda rest, share: rest * (1 - weight * share), CAST(1 AS DOUBLE)
                        ) > weight THEN CAST(1 AS DOUBLE)
                        ELSE CAST(-1 AS DOUBLE)
                    END * pow(CAST(0.5 AS DOUBLE), step),
                    CAST(0.5 AS DOUBLE)
                ), queried - 1
            )
            ELSE 1
        END AS chance
    FROM summed
),
query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(queried), 0) AS n_known,
        coalesce(sum(slack), 0) AS slack,
        min(most) AS most,
        CASE WHEN min(chance) = 0 THEN 0 ELSE exp(coalesce(sum(ln(CASE WHEN chance > 0 THEN chance END)), 0)) END AS chance
    FROM blocks
),
holding AS (
    SELECT held.n_blocks, count(*) AS n
    FROM (
        SELECT transaction_items.transaction_id, count(*) AS n_blocks
        FROM transaction_items
        JOIN blocks ON transaction_items.item_id = blocks.item_id
        GROUP BY transaction_items.transaction_id
    ) AS held
    GROUP BY held.n_blocks
),
counted AS (
    SELECT
        query.n_known < coalesce(array_length(list_distinct(getvariable('items'))), 0) AS has_unknown,
        query.slack,
        query.most,
        query.chance,
        CASE WHEN query.n_blocks = 0 THEN (SELECT count(*) FROM transaction_ids) ELSE coalesce(holding.n, 0) END AS n,
        (SELECT max(value) FROM manifest WHERE key = 'suppression') = 'none' AS nothing_suppressed
    FROM query
    LEFT JOIN holding ON query.n_blocks = holding.n_blocks
),
bounded AS (
    SELECT
        CASE WHEN has_unknown THEN 0 ELSE greatest(n - slack, 0) END AS low,
        CASE WHEN has_unknown THEN 0 ELSE n * chance END AS middle,
        CASE WHEN has_unknown AND nothing_suppressed THEN 0 ELSE least(n, coalesce(most, n)) END AS high
    FROM counted
)
SELECT
    CAST(low AS BIGINT) AS lower_bound,
    CAST(least(greatest(middle, low), high) AS DOUBLE) AS estimate,
    CAST(high AS BIGINT) AS upper_bound
FROM bounded
WHERE
    CASE
        WHEN getvariable('items') IS NULL
            THEN CAST(concat('count_bounds: the list of items is NULL. Give a list, array() for all transactions.') AS BOOLEAN)
        WHEN array_length(list_filter(getvariable('items'), lambda x: x IS NOT NULL)) < array_length(getvariable('items'))
            THEN CAST(concat('count_bounds: the list of items has a NULL in it. Leave it out.') AS BOOLEAN)
        ELSE true
    END
