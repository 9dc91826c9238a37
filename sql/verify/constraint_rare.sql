-- reads: shapes(id, items), whole(id, support)
-- params: k
-- returns: id, items, support
-- grain: id, items
-- The lists that some but fewer than k transactions hold whole.
SELECT shapes.id, shapes.items, whole.support
FROM whole
JOIN shapes ON shapes.id = whole.id
WHERE whole.support < getvariable('k')
