-- reads: found(id), shapes(id, items), lists(constraint_id, items)
-- params: none
-- returns: n
-- grain: one row
-- How many constraints are unsatisfied.
SELECT count(DISTINCT lists.constraint_id) AS n
FROM found
JOIN shapes ON shapes.id = found.id
JOIN lists ON lists.items = shapes.items
