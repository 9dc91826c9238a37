-- reads: transactions(tid, item), alone(tid)
-- params: low, high
-- returns: tid
-- grain: tid
-- The transactions that stand alone by three items, and not by fewer, for a range of the smallest item.
WITH singles AS (
    SELECT min(a.tid) AS tid
    FROM transactions AS a
    JOIN transactions AS b ON a.tid = b.tid AND a.item < b.item
    JOIN transactions AS c ON a.tid = c.tid AND b.item < c.item
    WHERE a.item BETWEEN getvariable('low') AND getvariable('high')
    GROUP BY a.item, b.item, c.item
    HAVING count(*) = 1
)
SELECT DISTINCT singles.tid FROM singles WHERE NOT EXISTS (SELECT 1 FROM alone WHERE alone.tid = singles.tid) ORDER BY 1
