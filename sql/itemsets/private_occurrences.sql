-- reads: transactions(tid, item), private(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The occurrences of the private items.
SELECT transactions.tid, transactions.item
FROM transactions
JOIN private ON transactions.item = private.item
