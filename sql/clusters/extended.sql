-- reads: transactions(tid, item, copies), places(tid, place), ancestors(item, node)
-- params: none
-- returns: place, node, n
-- grain: place, node
-- How many items each transaction has in the subtree of each node, by the place at which it is taken.
SELECT places.place, ancestors.node, CAST(sum(transactions.copies) AS INTEGER) AS n
FROM transactions
JOIN places ON transactions.tid = places.tid
JOIN ancestors ON transactions.item = ancestors.item
GROUP BY places.place, ancestors.node
ORDER BY 1 ASC, 2 ASC
