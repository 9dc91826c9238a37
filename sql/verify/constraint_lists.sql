-- reads: images(constraint_id, item, support)
-- params: none
-- returns: constraint_id, items
-- grain: constraint_id
-- The image of each privacy constraint as a list, the rarest item first.
SELECT constraint_id, list(item ORDER BY support, item) AS items FROM images GROUP BY constraint_id
