-- reads: buckets(bucket_id, column_id, items, copies), released_items(released_item, item), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of an anatomy: in how many transactions each item is, which an anatomy tells exactly.
SELECT
    released_items.item,
    CAST(coalesce(counted.support, 0) AS BIGINT) AS lower_bound,
    CAST(coalesce(counted.support, 0) AS DOUBLE) AS estimate,
    CAST(coalesce(counted.support, 0) AS BIGINT) AS upper_bound
FROM released_items
LEFT JOIN (
    SELECT listed.label, sum(listed.copies) AS support
    FROM (SELECT unnest(buckets.items) AS label, buckets.copies FROM buckets) AS listed
    GROUP BY listed.label
) AS counted ON released_items.released_item = counted.label
CROSS JOIN unhidden
WHERE unhidden.passed
ORDER BY released_items.item ASC
