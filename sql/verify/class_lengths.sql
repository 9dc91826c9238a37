-- reads: coded(tid, item)
-- params: none
-- returns: length, transactions
-- grain: length
-- The number of transactions of each length.
SELECT length, count(*) AS transactions
FROM (SELECT tid, count(*) AS length FROM coded GROUP BY tid) AS lengths
GROUP BY length
ORDER BY length ASC
