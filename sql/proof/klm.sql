-- reads: combinations(transaction_id, items), classes(transaction_id, class), transactions(transaction_id, item), sensitive(item)
-- params: l
-- returns: violation, items, support
-- grain: violation, items
-- (k,l^m)-diversity: of the records with equal relational values that hold a combination of nonsensitive items, the empty
-- one included, at most one in l holds a sensitive item. A class is named by its first transaction.
WITH background AS (
    SELECT transaction_id, items FROM combinations
    UNION ALL
    SELECT transaction_id, CAST([] AS TEXT[]) AS items FROM classes
),
candidates AS (
    SELECT classes.class, background.transaction_id, background.items
    FROM background JOIN classes ON background.transaction_id = classes.transaction_id
),
named AS (
    SELECT class, min(transaction_id) AS example FROM classes GROUP BY class
),
supports AS (
    SELECT class, items, count(*) AS support FROM candidates GROUP BY class, items
),
held AS (
    SELECT DISTINCT transaction_id, item FROM transactions WHERE item IN (SELECT sensitive.item FROM sensitive)
),
together AS (
    SELECT candidates.class, candidates.items, held.item, count(*) AS support
    FROM candidates JOIN held ON candidates.transaction_id = held.transaction_id
    GROUP BY candidates.class, candidates.items, held.item
)
SELECT
    'too many records with the values of transaction ' || named.example
    || ' that hold these items have the last one, which is sensitive' AS violation,
    list_append(together.items, together.item) AS items,
    together.support
FROM together
JOIN supports ON together.class = supports.class AND together.items = supports.items
JOIN named ON together.class = named.class
WHERE together.support * getvariable('l') > supports.support
