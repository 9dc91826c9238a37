-- reads: transactions(tid, item)
-- params: none
-- returns: id, items, length, copies
-- grain: id
-- The distinct transactions, each under the smallest tid that has it, and how many transactions are equal to it.
SELECT min(tid) AS id, items, len(items) AS length, count(*) AS copies
FROM (SELECT tid, list_sort(list(item)) AS items FROM transactions GROUP BY tid) AS lists
GROUP BY items
