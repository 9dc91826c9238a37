-- reads: transactions(tid, item)
-- params: none
-- returns: basket, items, copies
-- grain: basket
-- The distinct transactions as numbered lists, and how often each occurs.
SELECT CAST(row_number() OVER (ORDER BY items) AS INTEGER) AS basket, items, CAST(copies AS INTEGER) AS copies
FROM (
    SELECT items, count(tid) AS copies
    FROM (SELECT tid, list(item ORDER BY item) AS items FROM transactions GROUP BY tid) AS lists
    GROUP BY items
) AS distinct_lists
