-- reads: transactions(item)
-- params: k
-- returns: items, rare_items, occurrences
-- grain: one row
-- The number of items, of those with a support below k, and of occurrences: no transaction has more items than there are, so
-- the pair self-join has at most occurrences x (items - 1) / 2 rows.
SELECT
    count(*) AS items,
    count(*) FILTER (WHERE support < getvariable('k')) AS rare_items,
    CAST(coalesce(sum(support), 0) AS BIGINT) AS occurrences
FROM (SELECT item, count(*) AS support FROM transactions GROUP BY item) AS supports
