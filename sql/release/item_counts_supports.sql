-- reads: transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of a global recoding with item supports: what count_bounds says of each original item alone.
WITH supports AS (
    SELECT labels.item AS released_item, counted.support
    FROM (
        SELECT transaction_items.item_id, count(*) AS support FROM transaction_items GROUP BY transaction_items.item_id
    ) AS counted
    JOIN labels ON counted.item_id = labels.item_id
),
members AS (
    SELECT
        released_items.item,
        coalesce(
            item_supports.at_least,
            CASE WHEN count(*) OVER (PARTITION BY released_items.released_item) = 1 THEN supports.support END,
            0
        ) AS at_least,
        coalesce(item_supports.at_most, supports.support, 0) AS at_most
    FROM released_items
    LEFT JOIN item_supports
        ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
    LEFT JOIN supports ON released_items.released_item = supports.released_item
)
SELECT
    members.item,
    CAST(members.at_least AS BIGINT) AS lower_bound,
    CAST((members.at_least + members.at_most) / 2 AS DOUBLE) AS estimate,
    CAST(members.at_most AS BIGINT) AS upper_bound
FROM members
CROSS JOIN unhidden
WHERE unhidden.passed
ORDER BY members.item ASC
