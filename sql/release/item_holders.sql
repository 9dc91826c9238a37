-- reads: transactions(item), items(item, label), released_items(released_item, item)
-- params: none
-- returns: released_item, item, n
-- grain: released_item, item
-- How many transactions hold each item of a global recoding, and so show its released item.
SELECT released_items.released_item, items.label AS item, held.n
FROM (SELECT item, count(*) AS n FROM transactions GROUP BY item) AS held
JOIN items ON held.item = items.item
JOIN released_items ON items.label = released_items.item
