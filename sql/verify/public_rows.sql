-- reads: transactions(tid, item), private(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The public items of the published transactions.
SELECT transactions.tid, transactions.item
FROM transactions
WHERE NOT EXISTS (SELECT 1 FROM private WHERE private.item = transactions.item)
