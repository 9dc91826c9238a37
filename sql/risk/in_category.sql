-- reads: fitting(person, class), known_values(person, value), shown(class, label), released_values(attribute, released_value, value)
-- params: attribute
-- returns: person, class
-- grain: person, class
-- The classes whose published category may stand for a person's value. NULL is a value; if it is alone, NULL is published.
SELECT fitting.person, fitting.class
FROM fitting
JOIN known_values ON fitting.person = known_values.person
JOIN shown ON fitting.class = shown.class
WHERE (shown.label IS NULL AND known_values.value IS NULL)
    OR EXISTS (
        SELECT 1
        FROM released_values
        WHERE released_values.attribute = getvariable('attribute')
            AND released_values.released_value = shown.label
            AND released_values.value IS NOT DISTINCT FROM known_values.value
    )
