-- reads: item_supports(released_item, item, at_least, at_most)
-- params: none
-- returns: released_item, item, at_least, at_most
-- grain: released_item, item
-- The item supports of a release.
SELECT released_item, item, at_least, at_most FROM item_supports
