-- reads: manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the table function count_bounds(items) of Snowflake and BigQuery, for a global recoding of sets without item supports,
-- whose members are alike: a plain recursion finds how many hold each of them, and then the weight of a released item by halving. The
-- bounds and the estimate are those of sql/release/count_bounds.sql, which has the proof.
-- The CASE refuses what is no list of items: the error is a cast of its text, which only runs where it is needed.
WITH RECURSIVE wanted AS (
    SELECT released_item, item FROM released_items WHERE list_contains(getvariable('items'), item)
),
fitted AS (
    SELECT
        labels.item_id, asked.queried, sizes.size, CAST(shown.support AS DOUBLE) AS support, persons.n,
        CASE WHEN sizes.size = 1 OR shown.support < sizes.size THEN 0 ELSE CAST(0.5 AS DOUBLE) END AS least_held,
        CAST(shown.support AS DOUBLE) / sizes.size AS found,
        CAST(0.5 AS DOUBLE) AS weight,
        0 AS step
    FROM (SELECT released_item, count(*) AS queried FROM wanted GROUP BY released_item) AS asked
    JOIN (SELECT released_item, count(*) AS size FROM released_items GROUP BY released_item) AS sizes
        ON asked.released_item = sizes.released_item
    LEFT JOIN labels ON sizes.released_item = labels.item
    LEFT JOIN (
        SELECT item_id, count(*) AS support FROM transaction_items GROUP BY item_id
    ) AS shown ON labels.item_id = shown.item_id
    CROSS JOIN (SELECT CAST(count(*) AS DOUBLE) AS n FROM transaction_ids) AS persons
    UNION ALL
    SELECT
        item_id, queried, size, support, n, least_held,
        CASE
            WHEN step >= 30 THEN found
            ELSE least(
                least_held + support * (found / n) / (1 - pow(1 - found / n, size)) * (1 - least_held * size / support), support
            )
        END AS found,
        CASE
            WHEN step < 30 THEN weight
            ELSE weight + CASE WHEN 1 - pow(1 - weight * found / support, size) > weight THEN 1 ELSE -1 END
                * pow(CAST(0.5 AS DOUBLE), step - 28)
        END AS weight,
        step + 1 AS step
    FROM fitted
    WHERE step < 69
),
blocks AS (
    SELECT
        item_id, size, queried,
        CASE
            WHEN size = 1 THEN 1
            WHEN queried > 1 AND found * size <= support * 1.000001 THEN 0
            WHEN support > 0 THEN pow(found / support, queried) * pow(weight, queried - 1)
            ELSE 0
        END AS chance
    FROM fitted
    WHERE step = 69
),
query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(queried), 0) AS n_known,
        coalesce(max(size), 1) AS largest,
        CASE
            WHEN min(chance) = 0 THEN 0 ELSE exp(coalesce(sum(ln(CASE WHEN chance > 0 THEN chance END)), 0))
        END AS probability
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
    CAST(CASE WHEN has_unknown THEN 0 ELSE least(n * probability, n) END AS DOUBLE) AS estimate,
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
