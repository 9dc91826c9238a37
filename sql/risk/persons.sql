-- reads: rows(tid)
-- params: none
-- returns: tid
-- grain: tid
-- The persons of whom an attacker can know something.
SELECT DISTINCT tid FROM rows ORDER BY tid ASC
