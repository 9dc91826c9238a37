-- reads: transactions(tid, item)
-- params: none
-- returns: length, transactions
-- grain: length
-- How many transactions have each length; the number of itemsets in all transactions follows from it.
SELECT length, count(*) AS transactions
FROM (SELECT tid, count(*) AS length FROM transactions GROUP BY tid) AS lengths
GROUP BY length
ORDER BY length
