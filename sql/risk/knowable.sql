-- reads: transactions(tid, item), hidden(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The items that an attacker may know: those that are neither sensitive nor private.
SELECT transactions.tid, transactions.item
FROM transactions
WHERE NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.item = transactions.item)
