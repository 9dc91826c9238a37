-- reads: transactions(tid, item)
-- params: k
-- returns: items, rare_items, longest, pair_rows
-- grain: one row
-- The figures that the cost of a verification depends on: the number of items and of those with a support below k, the
-- longest transaction, and the number of rows of the pair self-join.
WITH supports AS (SELECT item, count(*) AS support FROM transactions GROUP BY item),
lengths AS (SELECT tid, count(*) AS length FROM transactions GROUP BY tid),
by_item AS (
    SELECT count(*) AS items, count(*) FILTER (WHERE support < getvariable('k')) AS rare_items FROM supports
),
by_transaction AS (
    SELECT
        coalesce(max(length), 0) AS longest,
        CAST(coalesce(sum(length * (length - 1)), 0) / 2 AS BIGINT) AS pair_rows
    FROM lengths
)
SELECT items, rare_items, longest, pair_rows FROM by_item CROSS JOIN by_transaction
