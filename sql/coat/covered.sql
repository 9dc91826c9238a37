-- reads: candidates(id, whole), sets(id, length), set_items(id, item)
-- params: none
-- returns: id
-- grain: id
-- The distinct transactions that another one properly contains.
SELECT DISTINCT matched.id
FROM (
    SELECT candidates.id, candidates.whole, count(whole_items.item) AS shared
    FROM candidates
    JOIN set_items AS part_items ON part_items.id = candidates.id
    JOIN set_items AS whole_items ON whole_items.id = candidates.whole AND whole_items.item = part_items.item
    GROUP BY candidates.id, candidates.whole
) AS matched
JOIN sets ON sets.id = matched.id
WHERE matched.shared = sets.length
