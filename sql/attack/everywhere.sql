-- reads: persons(person), shown(class)
-- params: none
-- returns: person, class
-- grain: person, class
-- Every class may be every person's, as long as no value is known.
SELECT persons.person, classes.class
FROM persons CROSS JOIN (SELECT DISTINCT class FROM shown) AS classes
