-- reads: checked(passed), manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items) of a global recoding with set semantics: how many original transactions hold
-- all of the items, at least, as expected, and at most.
--
-- Why these bounds hold and are the best possible. A released item stands for a non-empty subset of its members; apart
-- from that, and apart from items that no released item stands for, the originals of a transaction are free, and free of
-- those of all other transactions. So the bounds are sums over transactions. Write r(x) for the released item of x.
-- * A transaction may hold the query if and only if it has r(x) for every x: choose all members everywhere. Without r(x)
--   it cannot hold x. That is the upper bound.
-- * It must hold the query if and only if, besides, every r(x) stands for x alone: otherwise r(x) has another member y,
--   and {y} alone is a possible choice. That is the lower bound: all or nothing, since sizes are the same everywhere.
-- * An item without a released item may lie in every transaction and in none where something was suppressed; where
--   nothing was suppressed, every item of the data has a released item, and the item is in no transaction.
-- The estimate takes the 2^s - 1 non-empty subsets of s members as equally likely and released items as independent:
-- q given members of s are all present with probability 2^-q / (1 - 2^-s), a form that does not overflow.
WITH asked AS (
    SELECT CAST(getvariable('items') AS TEXT[]) AS labels
),
wanted AS (
    SELECT DISTINCT decode(encode(label)) AS item FROM (SELECT unnest(labels) AS label FROM asked) AS listed
),
blocks AS (
    SELECT labels.item_id, sizes.size, sizes.queried
    FROM (
        SELECT
            members.released_item,
            count(*) AS size,
            count(wanted.item) AS queried
        FROM released_items AS members
        LEFT JOIN wanted ON members.item = wanted.item
        GROUP BY members.released_item
        HAVING count(wanted.item) > 0
    ) AS sizes
    LEFT JOIN labels ON sizes.released_item = labels.item
),
query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(blocks.queried), 0) AS n_known,
        coalesce(max(blocks.size), 1) AS largest,
        coalesce(
            product(
                pow(CAST(2 AS DOUBLE), -blocks.queried) / (1 - pow(CAST(2 AS DOUBLE), -blocks.size))
                ORDER BY blocks.size ASC, blocks.queried ASC
            ), 1
        ) AS probability
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
        query.n_known < len(list_distinct(asked.labels)) AS has_unknown,
        query.largest,
        query.probability,
        CASE WHEN query.n_blocks = 0 THEN (SELECT count(*) FROM transaction_ids) ELSE coalesce(holding.n, 0) END AS n,
        (SELECT max(value) FROM manifest WHERE key = 'suppression') = 'none' AS nothing_suppressed
    FROM query
    CROSS JOIN asked
    LEFT JOIN holding ON query.n_blocks = holding.n_blocks
)
SELECT
    CAST(CASE WHEN counted.has_unknown OR counted.largest > 1 THEN 0 ELSE counted.n END AS BIGINT) AS lower_bound,
    CAST(CASE WHEN counted.has_unknown THEN 0 ELSE counted.n * counted.probability END AS DOUBLE) AS estimate,
    CAST(CASE WHEN counted.has_unknown AND counted.nothing_suppressed THEN 0 ELSE counted.n END AS BIGINT) AS upper_bound
FROM counted
CROSS JOIN checked
WHERE checked.passed
