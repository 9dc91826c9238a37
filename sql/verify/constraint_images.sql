-- reads: constraints(constraint_id, item), released_items(released_item, item), items(item, label), transactions(tid, item)
-- params: none
-- returns: constraint_id, item, support
-- grain: constraint_id, item
-- The image of each privacy constraint: the occurring released items that stand for its items. Items that are suppressed
-- or never occur have no image.
SELECT images.constraint_id, images.item, supports.support
FROM (
    SELECT DISTINCT constraints.constraint_id, items.item
    FROM constraints
    JOIN released_items ON released_items.item = constraints.item
    JOIN items ON items.label = released_items.released_item
) AS images
JOIN (SELECT item, count(tid) AS support FROM transactions GROUP BY item) AS supports ON supports.item = images.item
