-- reads: checked(passed), manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items) of a global recoding with item supports: how many original transactions hold all of
-- the items, at least, as expected, and at most.
--
-- Why these bounds hold (docs/item_supports.md#bounds). T transactions show the released items of all queried items; s show a
-- released item A, and at least l and at most u of these hold its member x. A released item without item supports has l = 0
-- and u = s, and l = s if it stands for one item.
-- * Upper: T, and u of each x. If q > 1 members of A are queried, each transaction that holds them all holds q - 1 items of A
--   more than the one that every transaction that shows A holds, and the sum of all u is s plus at most the excess E: E / (q - 1).
-- * Lower: of the T transactions at most s - l lack x, for each x.
-- * An item without a released item may be anywhere if something was suppressed, else nowhere.
-- The estimate takes the middle of l and u as the support of x, released items as independent, and the members of A as
-- independent but for the transactions that hold none of them, which do not show A: the weight of A accounts for these.
WITH asked AS (
    SELECT CAST(getvariable('items') AS TEXT[]) AS labels
),
wanted AS (
    SELECT DISTINCT decode(encode(label)) AS item FROM (SELECT unnest(labels) AS label FROM asked) AS listed
),
touched AS (
    SELECT labels.item_id, labels.item AS released_item, count(*) AS support
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    WHERE labels.item IN (
        SELECT released_items.released_item FROM released_items JOIN wanted ON released_items.item = wanted.item
    )
    GROUP BY labels.item_id, labels.item
),
members AS (
    SELECT
        touched.item_id,
        touched.support,
        wanted.item IS NOT NULL AS queried,
        coalesce(
            item_supports.at_least,
            CASE WHEN count(*) OVER (PARTITION BY touched.item_id) = 1 THEN touched.support ELSE 0 END
        ) AS at_least,
        coalesce(item_supports.at_most, touched.support) AS at_most,
        coalesce(item_supports.weight, 1) AS weight
    FROM touched
    JOIN released_items ON touched.released_item = released_items.released_item
    LEFT JOIN item_supports
        ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
    LEFT JOIN wanted ON released_items.item = wanted.item
),
blocks AS (
    SELECT
        members.item_id,
        count(*) FILTER (WHERE members.queried) AS queried,
        min(members.at_most) FILTER (WHERE members.queried) AS least_most,
        sum(members.support - members.at_least) FILTER (WHERE members.queried) AS slack,
        sum(members.at_most) - any_value(members.support) AS excess,
        product((members.at_least + members.at_most) / (2 * members.support) ORDER BY members.at_least ASC, members.at_most ASC)
            FILTER (WHERE members.queried) AS share,
        any_value(members.weight) AS weight
    FROM members
    GROUP BY members.item_id
),
query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(blocks.queried), 0) AS n_known,
        coalesce(sum(blocks.slack), 0) AS slack,
        min(CASE WHEN blocks.queried > 1 THEN least(blocks.least_most, blocks.excess // (blocks.queried - 1)) ELSE blocks.least_most END) AS most,
        coalesce(
            product(blocks.share * pow(blocks.weight, blocks.queried - 1) ORDER BY blocks.share ASC, blocks.weight ASC), 1
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
        query.slack,
        query.most,
        query.probability,
        CASE WHEN query.n_blocks = 0 THEN (SELECT count(*) FROM transaction_ids) ELSE coalesce(holding.n, 0) END AS n,
        (SELECT max(value) FROM manifest WHERE key = 'suppression') = 'none' AS nothing_suppressed
    FROM query
    CROSS JOIN asked
    LEFT JOIN holding ON query.n_blocks = holding.n_blocks
),
bounded AS (
    SELECT
        CASE WHEN counted.has_unknown THEN 0 ELSE greatest(counted.n - counted.slack, 0) END AS low,
        CASE WHEN counted.has_unknown THEN 0 ELSE counted.n * counted.probability END AS middle,
        CASE WHEN counted.has_unknown AND counted.nothing_suppressed THEN 0 ELSE least(counted.n, coalesce(counted.most, counted.n)) END AS high
    FROM counted
)
SELECT
    CAST(bounded.low AS BIGINT) AS lower_bound,
    CAST(least(greatest(bounded.middle, bounded.low), bounded.high) AS DOUBLE) AS estimate,
    CAST(bounded.high AS BIGINT) AS upper_bound
FROM bounded
CROSS JOIN checked
WHERE checked.passed
