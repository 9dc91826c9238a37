-- reads: checked(passed), wanted(item), blocks(item_id, queried, slack, most, chance), manifest(key, value), transaction_ids(transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item)
-- params: none
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items) of a global recoding with set semantics: how many original transactions hold
-- all of the items, at least, as expected if they are independent, and at most.
--
-- Why these bounds hold (docs/item_supports.md#bounds). T transactions show the released items of all queried items; s show a
-- released item A, and at least l and at most u of these hold its member x. A released item without item supports has l = 0
-- and u = s, and l = s if it stands for one item.
-- * Upper: T, and u of each x. If q > 1 members of A are queried, each transaction that holds them all holds q - 1 items of A
--   more than the one that every transaction that shows A holds, and the sum of all u is s plus at most the excess E: E / (q - 1).
-- * Lower: of the T transactions at most s - l lack x, for each x.
-- * An item without a released item may be anywhere if something was suppressed, else nowhere.
--
-- Without item supports these are T, and 0 unless every queried item's released item stands for it alone, and the best possible. A
-- released item stands for a non-empty subset of its members; apart from that, and apart from items that no released item stands
-- for, the originals of a transaction are free, and free of those of all others. So a transaction may hold the query if and only if
-- it shows all its released items: choose all members. It must hold it if and only if, besides, each of these stands for one item:
-- otherwise one has another member y, and {y} alone is a possible choice.
--
-- The estimate takes released items as independent, and so the members of one, but for the transactions that hold none of them.
-- The macro repeats the text of each subquery where it is read, so the blocks are read once.
WITH query AS (
    SELECT
        count(*) AS n_blocks,
        coalesce(sum(blocks.queried), 0) AS n_known,
        coalesce(sum(blocks.slack), 0) AS slack,
        min(blocks.most) AS most,
        coalesce(product(blocks.chance ORDER BY blocks.chance ASC), 1) AS chance
    FROM blocks
),
holding AS (
    SELECT held.n_blocks, count(*) AS n
    FROM (
        SELECT transaction_items.transaction_id, count(*) AS n_blocks
        FROM transaction_items
        JOIN labels ON transaction_items.item_id = labels.item_id
        WHERE labels.item IN (
            SELECT members.released_item FROM released_items AS members JOIN wanted ON members.item = wanted.item
        )
        GROUP BY transaction_items.transaction_id
    ) AS held
    GROUP BY held.n_blocks
),
counted AS (
    SELECT
        query.n_known < (SELECT count(*) FROM wanted) AS has_unknown,
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
        CASE WHEN counted.has_unknown THEN 0 ELSE greatest(counted.n - counted.slack, 0) END AS low,
        CASE WHEN counted.has_unknown THEN 0 ELSE counted.n * counted.chance END AS middle,
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
