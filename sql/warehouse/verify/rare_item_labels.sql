-- reads: rare(item, support), items(item, label)
-- params: how_many
-- returns: label, support
-- grain: item
-- The first threats of one item, in the order of their labels.
SELECT items.label, rare.support
FROM rare JOIN items ON rare.item = items.item
ORDER BY items.label, items.item
LIMIT getvariable('how_many')
