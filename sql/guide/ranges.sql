-- reads: transactions(tid, item)
-- params: m, chunk
-- returns: low, high
-- grain: low
-- Ranges of the smallest item of a set of two or three items, of about equal and bounded numbers of rows of the join.
WITH places AS (
    SELECT item, CAST(row_number() OVER (PARTITION BY tid ORDER BY item DESC) - 1 AS DOUBLE) AS larger FROM transactions
),
masses AS (
    SELECT item, sum(CASE WHEN getvariable('m') = 2 THEN larger ELSE larger * (larger - 1) / 2 END) AS mass
    FROM places
    GROUP BY item
),
parts AS (
    SELECT item, floor(sum(mass) OVER (ORDER BY item ROWS UNBOUNDED PRECEDING) / getvariable('chunk')) AS part FROM masses
)
SELECT min(item) AS low, max(item) AS high FROM parts GROUP BY part ORDER BY 1
