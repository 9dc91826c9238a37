-- reads: transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most)
-- params: none
-- returns: label, name, item, support, at_least, at_most
-- grain: label, item
-- What each released item stands for: its number and label, a member, how many transactions show it, and the item supports;
-- NULL where the file has none.
SELECT
    shown.item_id AS label,
    labels.item AS name,
    released_items.item AS item,
    shown.support,
    item_supports.at_least,
    item_supports.at_most
FROM (
    SELECT transaction_items.item_id, count(*) AS support FROM transaction_items GROUP BY transaction_items.item_id
) AS shown
JOIN labels ON shown.item_id = labels.item_id
JOIN released_items ON labels.item = released_items.released_item
LEFT JOIN item_supports
    ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
ORDER BY label ASC, released_items.item ASC
