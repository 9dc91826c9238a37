-- reads: transactions(tid, item)
-- params: first_tid, last_tid
-- returns: tid, item
-- grain: tid, item
-- The occurrences of a range of transactions, for the arrays of COAT.
SELECT tid, item FROM transactions
WHERE tid BETWEEN getvariable('first_tid') AND getvariable('last_tid')
