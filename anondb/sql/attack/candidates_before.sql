-- reads: known(person, item), transactions(tid, item)
-- params: none
-- returns: person, candidates
-- grain: person
-- How many transactions of the source hold all that is known of a person.
WITH sizes AS (
    SELECT person, count(*) AS size FROM known GROUP BY person
),
fitting AS (
    SELECT known.person, transactions.tid, count(*) AS held
    FROM known JOIN transactions ON known.item = transactions.item
    GROUP BY known.person, transactions.tid
)
SELECT fitting.person, count(*) AS candidates
FROM fitting JOIN sizes ON fitting.person = sizes.person AND fitting.held = sizes.size
GROUP BY fitting.person
ORDER BY fitting.person ASC
