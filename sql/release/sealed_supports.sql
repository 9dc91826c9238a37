-- reads: released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight)
-- params: none
-- returns: item_supports_of_no_member, item_supports_that_are_repeated, item_supports_without_bounds
-- grain: one row
-- Rows of item_supports that anondb does not write; what they promise is for the verifier.
SELECT
    count(*) FILTER (WHERE released_items.item IS NULL) AS item_supports_of_no_member,
    count(*) - count(DISTINCT (item_supports.released_item, item_supports.item)) AS item_supports_that_are_repeated,
    count(*) FILTER (WHERE item_supports.at_least IS NULL OR item_supports.at_most IS NULL OR item_supports.weight IS NULL)
        AS item_supports_without_bounds
FROM item_supports
LEFT JOIN (SELECT DISTINCT released_item, item FROM released_items) AS released_items
    ON item_supports.released_item = released_items.released_item AND item_supports.item = released_items.item
