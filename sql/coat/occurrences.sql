-- reads: transactions(tid, item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- All occurrences, for the arrays of COAT.
SELECT tid, item FROM transactions
