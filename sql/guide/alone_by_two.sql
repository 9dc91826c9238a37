-- reads: transactions(tid, item), alone(tid)
-- params: low, high
-- returns: tid
-- grain: tid
-- The transactions that stand alone by two items, and not by fewer, for a range of the smaller item.
WITH singles AS (
    SELECT min(a.tid) AS tid
    FROM transactions AS a
    JOIN transactions AS b ON a.tid = b.tid AND a.item < b.item
    WHERE a.item BETWEEN getvariable('low') AND getvariable('high')
    GROUP BY a.item, b.item
    HAVING count(*) = 1
)
SELECT DISTINCT singles.tid FROM singles WHERE NOT EXISTS (SELECT 1 FROM alone WHERE alone.tid = singles.tid) ORDER BY 1
