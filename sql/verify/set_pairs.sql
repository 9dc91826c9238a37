-- reads: set_items(id, item)
-- params: none
-- returns: itemset, item, support
-- grain: itemset, item
-- The number of distinct transactions that hold each pair of items.
SELECT a.item AS itemset, b.item, count(*) AS support
FROM set_items AS a
JOIN set_items AS b ON a.id = b.id AND a.item < b.item
GROUP BY a.item, b.item
