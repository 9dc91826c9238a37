-- reads: persons(person)
-- params: none
-- returns: person
-- grain: person
-- The drawn persons, in order.
SELECT person FROM persons ORDER BY person ASC
