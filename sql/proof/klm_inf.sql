-- reads: classes(transaction_id, class), transactions(transaction_id, item), sensitive(item)
-- params: l
-- returns: violation, items, support
-- grain: violation, items
-- (k,l^m)-diversity for every m. Let z be a sensitive item and S a set of nonsensitive items. Items that all records with z and
-- S hold can be added to S: the number of its records with z does not change, and the number of its records does not grow. So
-- it suffices to check the intersections of records with z. A class is named by its first transaction.
WITH RECURSIVE baskets AS (
    SELECT
        classes.class,
        classes.transaction_id,
        coalesce(
            list_sort(list(DISTINCT held.item) FILTER (WHERE held.item IS NOT NULL)), CAST([] AS TEXT[])
        ) AS items
    FROM classes
    LEFT JOIN (
        SELECT transaction_id, item FROM transactions WHERE item NOT IN (SELECT sensitive.item FROM sensitive)
    ) AS held ON classes.transaction_id = held.transaction_id
    GROUP BY classes.class, classes.transaction_id
),
exposing AS (
    SELECT DISTINCT baskets.class, baskets.transaction_id, transactions.item AS secret, baskets.items
    FROM baskets
    JOIN transactions ON baskets.transaction_id = transactions.transaction_id
    WHERE transactions.item IN (SELECT sensitive.item FROM sensitive)
),
shared AS (
    SELECT DISTINCT class, secret, items FROM exposing
    UNION
    SELECT shared.class, shared.secret, list_sort(list_intersect(shared.items, exposing.items)) AS items
    FROM shared JOIN exposing ON shared.class = exposing.class AND shared.secret = exposing.secret
),
supports AS (
    SELECT shared.class, shared.secret, shared.items, count(*) AS support
    FROM shared JOIN baskets ON shared.class = baskets.class AND list_has_all(baskets.items, shared.items)
    GROUP BY shared.class, shared.secret, shared.items
),
together AS (
    SELECT shared.class, shared.secret, shared.items, count(*) AS support
    FROM shared
    JOIN exposing
        ON shared.class = exposing.class AND shared.secret = exposing.secret
        AND list_has_all(exposing.items, shared.items)
    GROUP BY shared.class, shared.secret, shared.items
),
named AS (
    SELECT class, min(transaction_id) AS example FROM classes GROUP BY class
)
SELECT
    'too many records with the values of transaction ' || named.example
    || ' that hold these items have the last one, which is sensitive' AS violation,
    list_append(together.items, together.secret) AS items,
    together.support
FROM together
JOIN supports
    ON together.class = supports.class AND together.secret = supports.secret AND together.items = supports.items
JOIN named ON together.class = named.class
WHERE together.support * getvariable('l') > supports.support
