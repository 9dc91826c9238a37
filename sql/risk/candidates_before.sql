-- reads: persons(person), known(person, item), transactions(tid, item), alike(tid, alike)
-- params: none
-- returns: person, candidates
-- grain: person
-- The number of persons of the source with the relational values of a person (equal ``alike``) and all known items of the
-- person.
WITH own AS (
    SELECT persons.person, alike.alike FROM persons JOIN alike ON persons.person = alike.tid
),
sizes AS (
    SELECT person, count(*) AS size FROM known GROUP BY person
),
fitting AS (
    SELECT known.person, transactions.tid, count(*) AS held
    FROM known
    JOIN own ON known.person = own.person
    JOIN transactions ON known.item = transactions.item
    JOIN alike ON transactions.tid = alike.tid AND own.alike = alike.alike
    GROUP BY known.person, transactions.tid
),
found AS (
    SELECT fitting.person, count(*) AS candidates
    FROM fitting JOIN sizes ON fitting.person = sizes.person AND fitting.held = sizes.size
    GROUP BY fitting.person
),
by_values AS (
    SELECT alike, count(*) AS candidates FROM alike GROUP BY alike
)
SELECT own.person, coalesce(found.candidates, by_values.candidates) AS candidates
FROM own
JOIN by_values ON own.alike = by_values.alike
LEFT JOIN found ON own.person = found.person
ORDER BY own.person ASC
