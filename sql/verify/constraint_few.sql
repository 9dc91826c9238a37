-- reads: traces(id, items, copies)
-- params: k
-- returns: id, items, support
-- grain: id, items
-- The parts that fewer than k transactions hold: the violations of lists that no transaction holds whole.
SELECT few.id, few.items, CAST(sum(more.copies) AS BIGINT) AS support
FROM traces AS few
JOIN traces AS more ON more.id = few.id AND len(more.items) >= len(few.items) AND list_has_all(more.items, few.items)
WHERE few.copies < getvariable('k')
GROUP BY few.id, few.items
HAVING sum(more.copies) < getvariable('k')
