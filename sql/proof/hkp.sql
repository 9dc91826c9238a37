-- reads: combinations(transaction_id, items), transactions(transaction_id, item), private(item)
-- params: k, numerator, denominator
-- returns: violation, items, support
-- grain: violation, items
-- (h,k,p)-coherence: each combination of public items occurs in at least k transactions, and no private item is in more than
-- the share h = numerator / denominator of them.
WITH supports AS (
    SELECT items, count(*) AS support FROM combinations GROUP BY items
),
held AS (
    SELECT DISTINCT transaction_id, item FROM transactions WHERE item IN (SELECT private.item FROM private)
),
together AS (
    SELECT combinations.items, held.item, count(*) AS support
    FROM combinations JOIN held ON combinations.transaction_id = held.transaction_id
    GROUP BY combinations.items, held.item
)
SELECT 'a combination of public items occurs in too few transactions' AS violation, items, support
FROM supports
WHERE support < getvariable('k')
UNION ALL
SELECT 'too many of those who have these items have the last one, which is private' AS violation,
    list_append(together.items, together.item) AS items, together.support
FROM together JOIN supports ON together.items = supports.items
WHERE together.support * getvariable('denominator') > supports.support * getvariable('numerator')
