-- reads: transactions(tid, item, copies)
-- params: none
-- returns: tid, length
-- grain: tid
-- How many occurrences of items each transaction has that has any.
SELECT tid, CAST(sum(copies) AS BIGINT) AS length FROM transactions GROUP BY tid ORDER BY tid ASC
