-- reads: fitting(person, class), known_values(person, value), shown(class, low, high, holds_null)
-- params: none
-- returns: person, class
-- grain: person, class
-- The classes whose published range may stand for a person's number or date (NULL is a value).
SELECT fitting.person, fitting.class
FROM fitting
JOIN known_values ON fitting.person = known_values.person
JOIN shown ON fitting.class = shown.class
WHERE CASE
    WHEN known_values.value IS NULL THEN shown.holds_null
    ELSE CAST(known_values.value AS DECIMAL(38, 18)) BETWEEN shown.low AND shown.high
END
