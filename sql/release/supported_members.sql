-- reads: wanted(item), transaction_items(item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: none
-- returns: item_id, support, item, queried, at_least, at_most, weight
-- grain: item_id, item
-- The members of the released items that stand for queried items, with their item supports. Without item supports a released
-- item gives no bounds, and one that stands for a single item gives the number of transactions that show it.
SELECT
    touched.item_id,
    touched.support,
    released_items.item,
    wanted.item IS NOT NULL AS queried,
    coalesce(
        item_supports.at_least,
        CASE WHEN count(*) OVER (PARTITION BY touched.item_id) = 1 THEN touched.support ELSE 0 END
    ) AS at_least,
    coalesce(item_supports.at_most, touched.support) AS at_most,
    coalesce(item_supports.weight, 1) AS weight
FROM (
    SELECT labels.item_id, labels.item AS released_item, count(*) AS support
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    WHERE labels.item IN (
        SELECT members.released_item FROM released_items AS members JOIN wanted ON members.item = wanted.item
    )
    GROUP BY labels.item_id, labels.item
) AS touched
JOIN released_items ON touched.released_item = released_items.released_item
LEFT JOIN item_supports
    ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
LEFT JOIN wanted ON released_items.item = wanted.item
