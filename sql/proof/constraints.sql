-- reads: listed(set_id, item), released_items(released_item, item), transactions(transaction_id, item)
-- params: k
-- returns: violation, items, support
-- grain: set_id, items
-- Privacy constraints: at least k transactions hold every subset of a constraint's released items that any transaction holds.
WITH images AS (
    SELECT DISTINCT listed.set_id, released_items.released_item
    FROM listed JOIN released_items ON listed.item = released_items.item
),
held AS (
    SELECT DISTINCT transaction_id, item FROM transactions
),
traces AS (
    SELECT images.set_id, held.transaction_id, list(held.item ORDER BY held.item ASC) AS items
    FROM held JOIN images ON held.item = images.released_item
    GROUP BY images.set_id, held.transaction_id
),
counted AS (
    SELECT set_id, items, count(*) AS copies FROM traces GROUP BY set_id, items
)
SELECT
    'a part of the constraint ' || part.set_id || ' is held by too few transactions' AS violation,
    part.items,
    CAST(sum(whole.copies) AS BIGINT) AS support
FROM counted AS part
JOIN counted AS whole ON part.set_id = whole.set_id AND list_has_all(whole.items, part.items)
GROUP BY part.set_id, part.items
HAVING sum(whole.copies) < getvariable('k')
