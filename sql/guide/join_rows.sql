-- reads: transactions(tid, item)
-- params: least
-- returns: pairs, triples
-- grain: one row
-- How many rows the joins of two and of three items of the same transaction have, over the items of at least this support.
WITH kept AS (SELECT item FROM transactions GROUP BY item HAVING count(*) >= getvariable('least')),
lengths AS (
    SELECT CAST(count(*) AS DOUBLE) AS n
    FROM transactions
    JOIN kept ON transactions.item = kept.item
    GROUP BY transactions.tid
)
SELECT
    coalesce(sum(n * (n - 1) / 2), 0) AS pairs,
    coalesce(sum(n * (n - 1) * (n - 2) / 6), 0) AS triples
FROM lengths
