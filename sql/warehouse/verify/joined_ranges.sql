-- reads: occurrences(tid, prefix)
-- params: chunk
-- returns: low, high, rows_
-- grain: low
-- Ranges of the prefix, of about equal and bounded numbers of rows of the next join.
WITH siblings AS (SELECT tid, prefix, count(*) AS n FROM occurrences GROUP BY tid, prefix HAVING count(*) > 1),
masses AS (SELECT prefix, sum(n * (n - 1)) / 2 AS mass FROM siblings GROUP BY prefix),
parts AS (
    SELECT prefix, mass, floor(sum(mass) OVER (ORDER BY prefix ROWS UNBOUNDED PRECEDING) / getvariable('chunk')) AS part
    FROM masses
)
SELECT min(prefix) AS low, max(prefix) AS high, CAST(sum(mass) AS BIGINT) AS rows_ FROM parts GROUP BY part ORDER BY 1
