-- reads: coded(item, label), items(item, label), expected(released_item, item, at_least, at_most, expected)
-- params: none
-- returns: released, item, at_least, at_most, expected
-- grain: released, item
-- The members of each released item with the bounds and the expected number of the transactions that show it and hold the member, in
-- the order of released items. item is the number of the member in the data, -1 where the data lack it.
SELECT
    coded.item AS released,
    coalesce(items.item, -1) AS item,
    expected.at_least,
    expected.at_most,
    expected.expected
FROM expected
JOIN coded ON expected.released_item = coded.label
LEFT JOIN items ON expected.item = items.label
ORDER BY coded.item ASC, expected.item ASC
