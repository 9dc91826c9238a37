-- reads: transactions(tid, item), alone(tid)
-- params: none
-- returns: tid
-- grain: tid
-- The transactions with an item that no other has, without those that stand alone already.
WITH singles AS (SELECT min(tid) AS tid FROM transactions GROUP BY item HAVING count(*) = 1)
SELECT DISTINCT singles.tid FROM singles WHERE NOT EXISTS (SELECT 1 FROM alone WHERE alone.tid = singles.tid) ORDER BY 1
