-- reads: ids(tid)
-- params: none
-- returns: tid
-- grain: row of ids
-- What is to be numbered.
SELECT tid FROM ids
