-- reads: transactions(tid, item), codes(code, item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions in codes; items without a code are left out.
SELECT transactions.tid, codes.code AS item
FROM transactions JOIN codes ON transactions.item = codes.item
ORDER BY 1, 2
