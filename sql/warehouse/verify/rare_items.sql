-- reads: transactions(tid, item)
-- params: k
-- returns: item, support
-- grain: item
-- The threats of one item.
SELECT item, count(*) AS support FROM transactions GROUP BY item HAVING count(*) < getvariable('k')
