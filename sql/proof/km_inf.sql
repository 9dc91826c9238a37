-- reads: transactions(transaction_id, item)
-- params: k
-- returns: violation, items, support
-- grain: items
-- k^m-anonymity for every m: each published transaction that is not empty is contained in at least k transactions, itself
-- included. Only transactions that hold its rarest item can contain it, so only those are compared.
WITH held AS (
    SELECT DISTINCT transaction_id, item FROM transactions
),
supports AS (
    SELECT item, count(*) AS support FROM held GROUP BY item
),
lists AS (
    SELECT held.transaction_id, list(held.item ORDER BY held.item ASC) AS items FROM held GROUP BY held.transaction_id
),
sets AS (
    SELECT items, count(*) AS copies, row_number() OVER (ORDER BY items ASC) AS id FROM lists GROUP BY items
),
set_items AS (
    SELECT id, unnest(items) AS item FROM sets
),
anchors AS (
    SELECT sets.id, arg_min(set_items.item, (supports.support, set_items.item)) AS item, max(len(sets.items)) AS length
    FROM sets
    JOIN set_items ON sets.id = set_items.id
    JOIN supports ON set_items.item = supports.item
    WHERE sets.copies < getvariable('k')
    GROUP BY sets.id
),
containing AS (
    SELECT anchors.id, other.id AS larger
    FROM anchors
    JOIN set_items AS other ON anchors.item = other.item
    JOIN set_items AS mine ON anchors.id = mine.id
    JOIN set_items AS shared ON other.id = shared.id AND mine.item = shared.item
    GROUP BY anchors.id, other.id, anchors.length
    HAVING count(*) = anchors.length
)
SELECT
    'a published transaction is contained in too few transactions' AS violation,
    any_value(sets.items) AS items,
    CAST(sum(larger_sets.copies) AS BIGINT) AS support
FROM containing
JOIN sets ON containing.id = sets.id
JOIN sets AS larger_sets ON containing.larger = larger_sets.id
GROUP BY containing.id
HAVING sum(larger_sets.copies) < getvariable('k')
