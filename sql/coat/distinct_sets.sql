-- reads: transactions(tid, item)
-- params: none
-- returns: id, items, length, copies
-- grain: id
-- The distinct non-empty transactions as sorted lists of items, numbered from 1 in the order of Pgen: the longest
-- first, then by the first transaction with these items.
SELECT
    CAST(row_number() OVER (ORDER BY length DESC, first_tid) AS INTEGER) AS id,
    items,
    CAST(length AS INTEGER) AS length,
    CAST(copies AS INTEGER) AS copies
FROM (
    SELECT items, len(items) AS length, min(tid) AS first_tid, count(tid) AS copies
    FROM (SELECT tid, list(item ORDER BY item) AS items FROM transactions GROUP BY tid) AS lists
    GROUP BY items
) AS sets
