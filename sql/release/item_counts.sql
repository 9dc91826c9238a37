-- reads: transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of a global recoding: what count_bounds says of each original item alone, see its proof.
WITH supports AS (
    SELECT labels.item AS released_item, counted.support
    FROM (
        SELECT transaction_items.item_id, count(*) AS support FROM transaction_items GROUP BY transaction_items.item_id
    ) AS counted
    JOIN labels ON counted.item_id = labels.item_id
),
sizes AS (
    SELECT released_items.released_item, count(*) AS size FROM released_items GROUP BY released_items.released_item
)
SELECT
    released_items.item,
    CAST(CASE WHEN sizes.size > 1 THEN 0 ELSE coalesce(supports.support, 0) END AS BIGINT) AS lower_bound,
    CAST(
        coalesce(supports.support, 0) * (pow(CAST(2 AS DOUBLE), -1) / (1 - pow(CAST(2 AS DOUBLE), -sizes.size))) AS DOUBLE
    ) AS estimate,
    CAST(coalesce(supports.support, 0) AS BIGINT) AS upper_bound
FROM released_items
JOIN sizes ON released_items.released_item = sizes.released_item
LEFT JOIN supports ON released_items.released_item = supports.released_item
CROSS JOIN unhidden
WHERE unhidden.passed
ORDER BY released_items.item ASC
