-- reads: transaction_ids(transaction_id, complete), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of a local recoding of sets with item supports: what count_bounds says of each original item alone.
WITH supports AS (
    SELECT labels.item AS released_item, count(*) AS support, count(*) FILTER (WHERE transaction_ids.complete) AS n_complete
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    JOIN transaction_ids ON transaction_items.transaction_id = transaction_ids.transaction_id
    GROUP BY labels.item
),
members AS (
    SELECT
        released_items.item,
        coalesce(
            item_supports.at_least,
            CASE WHEN count(*) OVER (PARTITION BY released_items.released_item) = 1 THEN supports.support END,
            0
        ) AS at_least,
        coalesce(item_supports.at_most, supports.support, 0) AS at_most,
        coalesce(supports.n_complete, 0) AS n_complete
    FROM released_items
    LEFT JOIN item_supports
        ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
    LEFT JOIN supports ON released_items.released_item = supports.released_item
),
added AS (
    SELECT
        members.item,
        sum(members.at_least) AS low,
        sum((members.at_least + members.at_most) / 2 ORDER BY members.at_least ASC, members.at_most ASC) AS middle,
        sum(least(members.n_complete, members.at_most)) AS high
    FROM members
    GROUP BY members.item
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
