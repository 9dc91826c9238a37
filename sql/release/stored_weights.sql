-- reads: item_supports(released_item, item, at_least, at_most, weight), supports(released_item, support)
-- params: none
-- returns: released_item, doubled, support, weight
-- grain: released_item, item
-- The weights of a release beside what they are computed from: twice the middle of the bounds, and the number of transactions
-- that show the released item. Rows with NULLs are left out.
SELECT
    item_supports.released_item,
    CAST(item_supports.at_least AS DOUBLE) + CAST(item_supports.at_most AS DOUBLE) AS doubled,
    supports.support,
    item_supports.weight
FROM item_supports
JOIN supports ON item_supports.released_item = supports.released_item
WHERE item_supports.at_least IS NOT NULL AND item_supports.at_most IS NOT NULL AND item_supports.weight IS NOT NULL
ORDER BY item_supports.released_item ASC, item_supports.item ASC
