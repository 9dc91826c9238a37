-- reads: source(id, value)
-- params: none
-- returns: value, persons
-- grain: value
-- The values of an attribute in code-point order, NULL first, and how many persons have each.
SELECT value, count(DISTINCT id) AS persons FROM source GROUP BY value ORDER BY value ASC NULLS FIRST
