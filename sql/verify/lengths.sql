-- reads: transactions(tid, item)
-- params: none
-- returns: length, n
-- grain: length
-- How many transactions hold so many items.
SELECT length, count(*) AS n
FROM (SELECT tid, count(*) AS length FROM transactions GROUP BY tid) AS lengths
GROUP BY length
ORDER BY length
