-- reads: transactions(tid, item)
-- params: none
-- returns: tid
-- grain: tid
-- The persons of whom something can be known.
SELECT DISTINCT tid FROM transactions ORDER BY tid ASC
