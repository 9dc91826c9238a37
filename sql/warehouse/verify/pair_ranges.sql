-- reads: transactions(tid, item)
-- params: chunk
-- returns: low, high, rows_
-- grain: low
-- Ranges of the smaller item of a pair, of about equal and bounded numbers of rows of the pair self-join.
WITH places AS (
    SELECT item, row_number() OVER (PARTITION BY tid ORDER BY item DESC) - 1 AS larger FROM transactions
),
masses AS (SELECT item, sum(larger) AS mass FROM places GROUP BY item),
parts AS (
    SELECT item, mass, floor(sum(mass) OVER (ORDER BY item ROWS UNBOUNDED PRECEDING) / getvariable('chunk')) AS part
    FROM masses
)
SELECT min(item) AS low, max(item) AS high, CAST(sum(mass) AS BIGINT) AS rows_ FROM parts GROUP BY part ORDER BY 1
