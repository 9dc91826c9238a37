-- reads: manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the table function count_bounds(items) of Spark for a release with item supports: Spark can filter by the parameter, but
-- neither unnest nor aggregate it. The bounds and the estimate are those of sql/release/count_bounds_supports.sql, which has the proof.
-- The CASE refuses what is no list of items: the error is a cast of its text, which only runs where it is needed.
WITH wanted AS (
    SELECT released_item, item FROM released_items WHERE list_contains(getvariable('items'), item)
),
shown AS (
    SELECT labels.item_id, labels.item AS released_item, count(*) AS support
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    WHERE labels.item IN (SELECT released_item FROM wanted)
    GROUP BY labels.item_id, labels.item
),
members AS (
    SELECT
        shown.item_id,
        shown.support,
        wanted.item IS NOT NULL AS queried,
        coalesce(item_supports.at_least, CASE WHEN sizes.size = 1 THEN shown.support ELSE 0 END) AS at_least,
        coalesce(item_supports.at_most, shown.support) AS at_most,
        coalesce(item_supports.weight, 1) AS weight
    FROM shown
    JOIN released_items ON shown.released_item = released_items.released_item
    JOIN (SELECT released_item, count(*) AS size FROM released_items GROUP BY released_item) AS sizes
        ON shown.released_item = sizes.released_item
    LEFT JOIN item_supports
        ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
    LEFT JOIN wanted ON released_items.released_item = wanted.released_item AND released_items.item = wanted.item
),
shares AS (
    SELECT
        item_id, support, queried, at_least, at_most, weight,
        (at_least + at_most) / (2 * CAST(support AS DOUBLE)) AS share
    FROM members
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
        max(weight) AS weight
    FROM shares
    GROUP BY item_id
),
blocks AS (
    SELECT
        item_id, queried, slack,
        CASE
            WHEN queried > 1 THEN least(most, CAST(floor(excess / CAST(greatest(queried - 1, 1) AS DOUBLE)) AS BIGINT))
            ELSE most
        END AS most,
        CASE WHEN least_share > 0 THEN exp(logarithm) ELSE 0 END * pow(CAST(weight AS DOUBLE), queried - 1) AS chance
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
