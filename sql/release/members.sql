-- reads: released_items(released_item, item)
-- params: none
-- returns: released_item, item
-- grain: released_item, item
-- The original items of each released item, sorted.
SELECT released_item, item FROM released_items ORDER BY released_item ASC, item ASC
