-- reads: violations(violation, released_item, item, support)
-- params: none
-- returns: violation, items, support
-- grain: violation, items
-- What is wrong with the item supports of a release, with the released item and its member in a list.
SELECT
    violation, CASE WHEN item IS NULL THEN [released_item] ELSE [released_item, item] END AS items, support
FROM violations
