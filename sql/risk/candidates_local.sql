-- reads: persons(person), known(person, item), items(item, label), released_items(released_item, item), transactions(transaction_id, item, copies), shown(transaction_id, complete, class), fitting(person, class)
-- params: atomic
-- returns: person, candidates
-- grain: person
-- The number of transactions of a local recoding that may be a person's: those of the classes that match the person's values
-- and either are not complete (any items may have been suppressed), or have a released item for each known item. With atomic
-- semantics each copy stands for one occurrence, so known items need as many copies. No transaction that may be the person's
-- is omitted: the upper bound of count_bounds for the same values and items is equal.
WITH sizes AS (
    SELECT person, count(*) AS size FROM known GROUP BY person
),
stands AS (
    SELECT known.person, known.item, released_items.released_item
    FROM known
    JOIN items ON known.item = items.item
    JOIN released_items ON items.label = released_items.item
),
members AS (
    SELECT class, count(*) FILTER (WHERE complete) AS complete, count(*) FILTER (WHERE NOT complete) AS incomplete
    FROM shown
    GROUP BY class
),
by_values AS (
    SELECT
        fitting.person,
        CAST(sum(members.complete) AS BIGINT) AS complete,
        CAST(sum(members.incomplete) AS BIGINT) AS incomplete
    FROM fitting JOIN members ON fitting.class = members.class
    GROUP BY fitting.person
),
candidates AS (
    SELECT shown.transaction_id, fitting.person
    FROM shown JOIN fitting ON shown.class = fitting.class
    WHERE shown.complete
),
covered AS (
    SELECT stands.person, transactions.transaction_id, count(DISTINCT stands.item) AS held
    FROM stands
    JOIN transactions ON stands.released_item = transactions.item
    JOIN candidates ON stands.person = candidates.person AND transactions.transaction_id = candidates.transaction_id
    GROUP BY stands.person, transactions.transaction_id
),
copied AS (
    SELECT nodes.person, transactions.transaction_id, sum(transactions.copies) AS copies
    FROM (SELECT DISTINCT person, released_item FROM stands) AS nodes
    JOIN transactions ON nodes.released_item = transactions.item
    WHERE getvariable('atomic')
    GROUP BY nodes.person, transactions.transaction_id
),
found AS (
    SELECT covered.person, count(*) AS candidates
    FROM covered
    JOIN sizes ON covered.person = sizes.person AND covered.held = sizes.size
    LEFT JOIN copied ON covered.person = copied.person AND covered.transaction_id = copied.transaction_id
    WHERE NOT getvariable('atomic') OR copied.copies >= sizes.size
    GROUP BY covered.person
)
SELECT
    persons.person,
    coalesce(by_values.incomplete, 0)
    + CASE WHEN sizes.size IS NULL THEN coalesce(by_values.complete, 0) ELSE coalesce(found.candidates, 0) END AS candidates
FROM persons
LEFT JOIN by_values ON persons.person = by_values.person
LEFT JOIN sizes ON persons.person = sizes.person
LEFT JOIN found ON persons.person = found.person
ORDER BY persons.person ASC
