-- reads: persons(person), shown(class)
-- params: none
-- returns: person, class
-- grain: person, class
-- All pairs of a person and a class: without known values every class matches every person.
SELECT persons.person, classes.class
FROM persons CROSS JOIN (SELECT DISTINCT class FROM shown) AS classes
