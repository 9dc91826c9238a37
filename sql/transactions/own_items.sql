-- reads: items(item, label)
-- params: none
-- returns: released_item, item
-- grain: released_item
-- The image map of ungeneralized transactions: each item stands for itself.
SELECT label AS released_item, label AS item FROM items
