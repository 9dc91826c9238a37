-- reads: known(person, item), items(item, label), released_items(released_item, item), transactions(transaction_id, item), transaction_ids(transaction_id)
-- params: none
-- returns: person, candidates
-- grain: person
-- The number of transactions of the release that may be a person's: those that hold the image of every known item that has
-- one. An item without an image excludes no transaction.
WITH images AS (
    SELECT DISTINCT known.person, released_items.released_item
    FROM known
    JOIN items ON known.item = items.item
    JOIN released_items ON items.label = released_items.item
),
sizes AS (
    SELECT person, count(*) AS size FROM images GROUP BY person
),
held AS (
    SELECT DISTINCT transaction_id, item FROM transactions
),
fitting AS (
    SELECT images.person, held.transaction_id, count(*) AS held
    FROM images JOIN held ON images.released_item = held.item
    GROUP BY images.person, held.transaction_id
),
found AS (
    SELECT fitting.person, count(*) AS candidates
    FROM fitting JOIN sizes ON fitting.person = sizes.person AND fitting.held = sizes.size
    GROUP BY fitting.person
)
SELECT
    persons.person,
    CASE WHEN sizes.size IS NULL THEN (SELECT count(*) FROM transaction_ids) ELSE coalesce(found.candidates, 0) END AS candidates
FROM (SELECT DISTINCT person FROM known) AS persons
LEFT JOIN sizes ON persons.person = sizes.person
LEFT JOIN found ON persons.person = found.person
ORDER BY persons.person ASC
