-- reads: manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the table function count_bounds(items) of Spark, which can filter by its parameter but neither unnest nor aggregate
-- it. The bounds and the estimate are those of sql/release/count_bounds.sql, which has the proof.
-- The CASE refuses what is no list of items: the error is a cast of its text, which only runs where it is needed.
WITH wanted AS (
    SELECT released_item, item FROM released_items WHERE list_contains(getvariable('items'), item)
),
blocks AS (
    SELECT labels.item_id, sizes.size, asked.queried
    FROM (SELECT released_item, count(*) AS queried FROM wanted GROUP BY released_item) AS asked
    JOIN (SELECT released_item, count(*) AS size FROM released_items GROUP BY released_item) AS sizes
        ON asked.released_item = sizes.released_item
    LEFT JOIN labels ON sizes.released_item = labels.item
),
query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(queried), 0) AS n_known,
        coalesce(max(size), 1) AS largest,
        exp(coalesce(
            sum(ln(pow(CAST(2 AS DOUBLE), -queried) / (1 - pow(CAST(2 AS DOUBLE), -size)))), 0
        )) AS probability
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
        query.largest,
        query.probability,
        CASE WHEN query.n_blocks = 0 THEN (SELECT count(*) FROM transaction_ids) ELSE coalesce(holding.n, 0) END AS n,
        (SELECT max(value) FROM manifest WHERE key = 'suppression') = 'none' AS nothing_suppressed
    FROM query
    LEFT JOIN holding ON query.n_blocks = holding.n_blocks
)
SELECT
    CAST(CASE WHEN has_unknown OR largest > 1 THEN 0 ELSE n END AS BIGINT) AS lower_bound,
    CAST(CASE WHEN has_unknown THEN 0 ELSE n * probability END AS DOUBLE) AS estimate,
    CAST(CASE WHEN has_unknown AND nothing_suppressed THEN 0 ELSE n END AS BIGINT) AS upper_bound
FROM counted
WHERE
    CASE
        WHEN getvariable('items') IS NULL
            THEN CAST(concat('count_bounds: the list of items is NULL. Give a list, array() for all transactions.') AS BOOLEAN)
        WHEN array_length(list_filter(getvariable('items'), lambda x: x IS NOT NULL)) < array_length(getvariable('items'))
            THEN CAST(concat('count_bounds: the list of items has a NULL in it. Leave it out.') AS BOOLEAN)
        ELSE true
    END
