-- reads: items(item, label), sensitive(label)
-- params: none
-- returns: item
-- grain: item
-- The released items that are sensitive items, which are published unchanged.
SELECT items.item FROM items WHERE EXISTS (SELECT 1 FROM sensitive WHERE sensitive.label = items.label)
