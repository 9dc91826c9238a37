-- reads: found(id), shapes(id, items), lists(constraint_id, items)
-- params: none
-- returns: n
-- grain: one row
-- The number of unsatisfied constraints.
SELECT count(DISTINCT lists.constraint_id) AS n
FROM found
JOIN shapes ON shapes.id = found.id
JOIN lists ON lists.items = shapes.items
