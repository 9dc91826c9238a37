-- reads: ids(tid)
-- params: none
-- returns: tid
-- grain: tid
-- The transactions to be numbered, in order.
SELECT tid FROM ids ORDER BY tid ASC
