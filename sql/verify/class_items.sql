-- reads: rows(tid, class, item), items(item, label)
-- params: none
-- returns: code, class, item, label
-- grain: code
-- A code for each item in each class, so that sets of codes are itemsets of single classes.
SELECT
    CAST(row_number() OVER (ORDER BY held.class ASC, held.item ASC) - 1 AS INTEGER) AS code,
    held.class,
    held.item,
    items.label
FROM (SELECT DISTINCT rows.class, rows.item FROM rows) AS held
JOIN items ON held.item = items.item
