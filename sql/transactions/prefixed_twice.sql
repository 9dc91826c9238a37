-- reads: transactions(tid, item), items(item, label)
-- params: none
-- returns: n
-- grain: one row
-- How often a transaction has several items with the same text before their first dot: a row of a table has one value of a column.
SELECT count(*) AS n
FROM (
    SELECT transactions.tid
    FROM transactions
    JOIN items ON transactions.item = items.item
    WHERE items.label LIKE '%.%'
    GROUP BY transactions.tid, split_part(items.label, '.', 1)
    HAVING count(*) > 1
) AS several
