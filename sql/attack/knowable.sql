-- reads: transactions(tid, item), hidden(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- What an attacker may know: the items that are not sensitive or private.
SELECT transactions.tid, transactions.item
FROM transactions
WHERE NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.item = transactions.item)
