-- reads: transactions(tid, item)
-- params: low, high
-- returns: pairs
-- grain: one row
-- The number of different pairs of items of the same transaction, for a range of the smaller item.
WITH pairs AS (
    SELECT a.item, b.item AS other
    FROM transactions AS a
    JOIN transactions AS b ON a.tid = b.tid AND a.item < b.item
    WHERE a.item BETWEEN getvariable('low') AND getvariable('high')
    GROUP BY a.item, b.item
)
SELECT count(*) AS pairs FROM pairs
