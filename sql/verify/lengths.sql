-- reads: transactions(tid, item)
-- params: none
-- returns: length, n
-- grain: length
-- The number of transactions of each length.
SELECT length, count(*) AS n
FROM (SELECT tid, count(*) AS length FROM transactions GROUP BY tid) AS lengths
GROUP BY length
ORDER BY length
