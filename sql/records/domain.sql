-- reads: source(value)
-- params: none
-- returns: value
-- grain: value
-- The distinct values of a categorical attribute in code-point order, NULL first.
SELECT DISTINCT value FROM source ORDER BY value ASC NULLS FIRST
