-- reads: checked(passed), wanted(item), middles(item, at_most), blocks(item_id, slack, most, chance), transaction_ids(transaction_id, complete), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item)
-- params: none
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items) of a local recoding of sets with item supports: how many original transactions hold
-- all of the items, at least, as expected, and at most.
--
-- Why these bounds hold (docs/item_supports.md#bounds). The released items of a transaction are disjoint, so each queried item
-- is below at most one of them: its cover. T transactions have the same cover of the query; of those that show a released item
-- A, at least l and at most u hold its member x.
-- * Upper: for each cover that has a released item for every item, as for a global recoding, T of complete transactions only;
--   and the transactions that are not complete, where any item may have been suppressed. All together, for each item, at most
--   the sum of its u over the released items above it, and the transactions that are not complete.
-- * Lower: for each such cover, of the T transactions at most s - l lack x, for each x.
-- The estimate is that of a global recoding for each cover, with suppressed items as absent.
WITH settings AS (
    SELECT
        (SELECT count(*) FROM wanted) AS n_items,
        (SELECT count(*) FROM transaction_ids) AS n,
        (SELECT count(*) FROM transaction_ids WHERE NOT complete) AS n_incomplete
),
held AS (
    SELECT transaction_items.transaction_id, list_sort(list(transaction_items.item_id)) AS cover, sum(asked.queried) AS covered
    FROM transaction_items
    JOIN (
        SELECT labels.item_id, count(*) AS queried
        FROM labels
        JOIN released_items ON labels.item = released_items.released_item
        JOIN wanted ON released_items.item = wanted.item
        GROUP BY labels.item_id
    ) AS asked ON transaction_items.item_id = asked.item_id
    GROUP BY transaction_items.transaction_id
),
covers AS (
    SELECT
        held.cover,
        count(*) AS n,
        count(*) FILTER (WHERE transaction_ids.complete) AS n_complete,
        row_number() OVER (ORDER BY held.cover ASC) AS number
    FROM held
    JOIN transaction_ids ON held.transaction_id = transaction_ids.transaction_id
    CROSS JOIN settings
    WHERE held.covered = settings.n_items
    GROUP BY held.cover
),
judged AS (
    SELECT
        any_value(listed.n) AS n,
        any_value(listed.n_complete) AS n_complete,
        sum(blocks.slack) AS slack,
        min(blocks.most) AS most,
        product(blocks.chance ORDER BY blocks.chance ASC) AS chance
    FROM (SELECT number, n, n_complete, unnest(cover) AS item_id FROM covers) AS listed
    JOIN blocks ON listed.item_id = blocks.item_id
    GROUP BY listed.number
),
of_items AS (
    SELECT min(total) AS most, count(*) AS n_items
    FROM (
        SELECT sum(middles.at_most) AS total FROM middles JOIN wanted ON middles.item = wanted.item GROUP BY middles.item
    ) AS by_item
),
counted AS (
    SELECT
        coalesce(sum(greatest(n - slack, 0)), 0) AS low,
        coalesce(sum(n * chance ORDER BY chance ASC, n ASC), 0) AS middle,
        coalesce(sum(least(n_complete, most)), 0) AS high
    FROM judged
),
bounded AS (
    SELECT
        CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.low END AS low,
        CASE WHEN settings.n_items = 0 THEN settings.n ELSE counted.middle END AS middle,
        CASE
            WHEN settings.n_items = 0 THEN settings.n
            WHEN of_items.n_items < settings.n_items THEN settings.n_incomplete
            ELSE least(counted.high, of_items.most) + settings.n_incomplete
        END AS high
    FROM counted
    CROSS JOIN settings
    CROSS JOIN of_items
)
SELECT
    CAST(bounded.low AS BIGINT) AS lower_bound,
    CAST(least(greatest(bounded.middle, bounded.low), bounded.high) AS DOUBLE) AS estimate,
    CAST(bounded.high AS BIGINT) AS upper_bound
FROM bounded
CROSS JOIN checked
WHERE checked.passed
