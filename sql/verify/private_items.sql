-- reads: items(item, label), labels(label)
-- params: none
-- returns: item
-- grain: item
-- The private items among the released ones.
SELECT items.item FROM items WHERE EXISTS (SELECT 1 FROM labels WHERE labels.label = items.label)
