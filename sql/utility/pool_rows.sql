-- reads: transactions(tid, item), pool(item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions reduced to the items that queries may be drawn from.
SELECT tid, item FROM transactions WHERE EXISTS (SELECT 1 FROM pool WHERE pool.item = transactions.item)
