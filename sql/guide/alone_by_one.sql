-- reads: transactions(tid, item)
-- params: none
-- returns: tid
-- grain: tid
-- The transactions with an item that no other transaction has.
SELECT DISTINCT min(tid) AS tid FROM transactions GROUP BY item HAVING count(*) = 1 ORDER BY 1
