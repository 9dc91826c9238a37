-- reads: transactions(item, label, copies, nested)
-- params: none
-- returns: item, label, copies, nested
-- grain: item
-- The distinct items of a release of bags (see bag_rows).
SELECT DISTINCT transactions.item, transactions.label, transactions.copies, transactions.nested
FROM transactions
ORDER BY transactions.item ASC
