-- reads: rows(tid)
-- params: none
-- returns: tid
-- grain: tid
-- The persons of whom something can be known.
SELECT DISTINCT tid FROM rows ORDER BY tid ASC
