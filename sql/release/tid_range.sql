-- reads: ids(tid)
-- params: none
-- returns: first_tid, last_tid
-- grain: one row
-- The least and the largest of the tids to be numbered; 1 and 0 if there are none.
SELECT coalesce(min(tid), 1) AS first_tid, coalesce(max(tid), 0) AS last_tid FROM ids
