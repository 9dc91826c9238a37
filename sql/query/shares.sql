-- reads: item_supports(released_item, item, at_least, at_most), transactions(transaction_id, item)
-- params: none
-- returns: released_item, item, share
-- grain: released_item, item
-- How often each member of a released item is among the items that it stands for, in the middle of its published bounds.
SELECT
    item_supports.released_item,
    item_supports.item,
    (coalesce(item_supports.at_least, 0) + coalesce(item_supports.at_most, counted.transactions)) / 2.0
    / counted.transactions AS share
FROM item_supports
JOIN (
    SELECT transactions.item, count(*) AS transactions FROM transactions GROUP BY transactions.item
) AS counted ON item_supports.released_item = counted.item
ORDER BY item_supports.released_item ASC, item_supports.item ASC
