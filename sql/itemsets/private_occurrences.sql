-- reads: transactions(tid, item), private(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- Where the private items occur.
SELECT transactions.tid, transactions.item
FROM transactions
JOIN private ON transactions.item = private.item
