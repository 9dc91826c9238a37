-- reads: ids(tid)
-- params: none
-- returns: tid
-- grain: row of ids
-- The tids to be numbered.
SELECT tid FROM ids
