-- reads: items(item, label)
-- params: none
-- returns: item, label
-- grain: item
-- The label of every released item.
SELECT item, label FROM items ORDER BY item
