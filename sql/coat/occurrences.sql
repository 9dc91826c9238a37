-- reads: transactions(tid, item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- All occurrences, for the controller's arrays.
SELECT tid, item FROM transactions
