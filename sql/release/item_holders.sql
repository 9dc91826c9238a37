-- reads: transactions(item), items(item, label), released_items(released_item, item)
-- params: none
-- returns: released_item, item, n
-- grain: released_item, item
-- How many transactions hold each item of a global recoding, and so show its released item.
SELECT any_value(released_items.released_item) AS released_item, any_value(items.label) AS item, count(*) AS n
FROM transactions
JOIN items ON transactions.item = items.item
JOIN released_items ON items.label = released_items.item
GROUP BY transactions.item
