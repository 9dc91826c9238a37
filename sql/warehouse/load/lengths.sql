-- reads: transactions(tid, item)
-- params: none
-- returns: length, transactions
-- grain: length
-- The number of transactions of each length, from which the number of their itemsets follows.
SELECT length, count(*) AS transactions
FROM (SELECT tid, count(*) AS length FROM transactions GROUP BY tid) AS lengths
GROUP BY length
ORDER BY length
