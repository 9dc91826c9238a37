-- reads: expected(item_id, item, at_least, at_most, expected), transaction_ids(transaction_id, complete), transaction_items(transaction_id, item_id), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of a local recoding of sets with item supports: what count_bounds says of each original item alone.
WITH added AS (
    SELECT
        expected.item,
        sum(expected.at_least) AS low,
        sum(expected.expected ORDER BY expected.expected ASC) AS middle,
        sum(least(coalesce(shown.n_complete, 0), expected.at_most)) AS high
    FROM expected
    LEFT JOIN (
        SELECT transaction_items.item_id, count(*) AS n_complete
        FROM transaction_items
        JOIN transaction_ids ON transaction_items.transaction_id = transaction_ids.transaction_id
        WHERE transaction_ids.complete
        GROUP BY transaction_items.item_id
    ) AS shown ON expected.item_id = shown.item_id
    GROUP BY expected.item
),
incomplete AS (
    SELECT count(*) AS n FROM transaction_ids WHERE NOT transaction_ids.complete
)
SELECT
    added.item,
    CAST(added.low AS BIGINT) AS lower_bound,
    CAST(added.middle AS DOUBLE) AS estimate,
    CAST(added.high + incomplete.n AS BIGINT) AS upper_bound
FROM added
CROSS JOIN incomplete
CROSS JOIN unhidden
WHERE unhidden.passed
ORDER BY added.item ASC
