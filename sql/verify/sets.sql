-- reads: transactions(tid, item)
-- params: none
-- returns: id, items, length, copies
-- grain: id
-- The distinct transactions, each with the smallest tid that has it and its number of copies.
SELECT min(tid) AS id, items, len(items) AS length, count(*) AS copies
FROM (SELECT tid, list_sort(list(item)) AS items FROM transactions GROUP BY tid) AS lists
GROUP BY items
