-- reads: items(item, label), sensitive(label)
-- params: none
-- returns: item
-- grain: item
-- The released items that are sensitive ones, which are published as they are.
SELECT items.item FROM items WHERE EXISTS (SELECT 1 FROM sensitive WHERE sensitive.label = items.label)
