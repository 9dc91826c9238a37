-- reads: released_items(released_item)
-- params: none
-- returns: released_item
-- grain: released_item
-- All released items.
SELECT DISTINCT members.released_item FROM released_items AS members
