-- reads: sets(id, copies), set_items(id, item), covered(id)
-- params: k
-- returns: id, item
-- grain: id, item
-- Pgen's constraints: the distinct transactions that no other contains; their support is their number of copies.
SELECT set_items.id, set_items.item
FROM sets
JOIN set_items ON set_items.id = sets.id
WHERE sets.copies < getvariable('k') AND NOT EXISTS (SELECT 1 FROM covered WHERE covered.id = sets.id)
ORDER BY 1, 2
