-- reads: set_items(id, item)
-- params: none
-- returns: itemset, item, support
-- grain: itemset, item
-- In how many distinct transactions every pair of items occurs.
SELECT a.item AS itemset, b.item, count(*) AS support
FROM set_items AS a
JOIN set_items AS b ON a.id = b.id AND a.item < b.item
GROUP BY a.item, b.item
