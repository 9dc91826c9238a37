-- reads: transactions(tid, item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The items of the transactions, in any order: they are sorted as leaves of a taxonomy once they are those.
SELECT tid, item FROM transactions
