-- reads: originals(item, label), released_items(released_item, item)
-- params: none
-- returns: label
-- grain: label
-- Original items that no released item stands for.
SELECT originals.label
FROM originals
WHERE NOT EXISTS (SELECT 1 FROM released_items WHERE released_items.item = originals.label)
