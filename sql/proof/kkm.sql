-- reads: combinations(transaction_id, items), classes(transaction_id, class)
-- params: k
-- returns: violation, items, support
-- grain: violation, items
-- (k,k^m)-anonymity: of the records with equal relational values, at least k hold each combination of items that any of
-- them holds. A class is named by its first transaction.
WITH named AS (
    SELECT class, min(transaction_id) AS example FROM classes GROUP BY class
),
rare AS (
    SELECT classes.class, combinations.items, count(*) AS support
    FROM combinations JOIN classes ON combinations.transaction_id = classes.transaction_id
    GROUP BY classes.class, combinations.items
    HAVING count(*) < getvariable('k')
)
SELECT
    'too few records with the values of transaction ' || named.example || ' hold these items' AS violation,
    rare.items,
    rare.support
FROM rare JOIN named ON rare.class = named.class
