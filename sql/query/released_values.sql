-- reads: released_values(attribute, released_value, value)
-- params: none
-- returns: attribute, released_value, value
-- grain: attribute, released_value, value
-- The values of the published categories of a release; the value NULL is NULL.
SELECT released_values.attribute, released_values.released_value, released_values.value
FROM released_values
ORDER BY released_values.attribute ASC, released_values.released_value ASC, released_values.value ASC NULLS FIRST
