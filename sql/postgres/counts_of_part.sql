-- reads: every_item(item), released_items(released_item, item), item_counts(item, lower_bound, estimate, upper_bound)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- What the release of one value says of each item of any value. Items that none of its released items stands for have the
-- same bounds, whichever they are: they may have been suppressed, or no transaction holds them.
WITH missing AS (
    SELECT every_item.item FROM every_item
    EXCEPT
    SELECT released_items.item FROM released_items
)
SELECT item_counts.item, item_counts.lower_bound, item_counts.estimate, item_counts.upper_bound
FROM item_counts
UNION ALL
SELECT missing.item, bounds.lower_bound, bounds.estimate, bounds.upper_bound
FROM (SELECT min(missing.item) AS item FROM missing HAVING count(*) > 0) AS first
CROSS JOIN LATERAL count_bounds(ARRAY[first.item]) AS bounds
CROSS JOIN missing
