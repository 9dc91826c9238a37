-- reads: items(item, label)
-- params: none
-- returns: label
-- grain: item
-- The labels in the order of the item numbers.
SELECT label FROM items ORDER BY item
