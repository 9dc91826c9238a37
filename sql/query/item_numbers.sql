-- reads: labels(item_id, item)
-- params: none
-- returns: item_id, item
-- grain: item_id
-- The number of each released item.
SELECT labels.item_id, labels.item
FROM labels
ORDER BY labels.item_id ASC
