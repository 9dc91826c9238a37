-- reads: transactions(tid, item), items(item, label)
-- params: none
-- returns: label, support
-- grain: item
-- The label and the support of every item, in the order of the item numbers.
SELECT items.label, counted.support
FROM items
JOIN (SELECT item, count(*) AS support FROM transactions GROUP BY item) AS counted ON items.item = counted.item
ORDER BY items.item
