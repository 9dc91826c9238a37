-- reads: transactions(tid, item)
-- params: none
-- returns: item, support
-- grain: item
-- For each item, the number of transactions that hold only this item.
SELECT item, count(*) AS support
FROM (SELECT min(item) AS item FROM transactions GROUP BY tid HAVING count(*) = 1) AS singles
GROUP BY item
ORDER BY item
