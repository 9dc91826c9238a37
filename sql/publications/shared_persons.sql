-- reads: persons(release_id, person), others(person)
-- params: none
-- returns: release_id, n
-- grain: release_id
-- How many of some persons each release of the ledger holds.
SELECT persons.release_id, count(*) AS n
FROM persons
JOIN others ON persons.person = others.person
GROUP BY persons.release_id
ORDER BY persons.release_id
