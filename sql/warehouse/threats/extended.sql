-- reads: transactions(tid, item), leaves(item, node), inner_nodes(item, node)
-- params: none
-- returns: tid, node
-- grain: tid, node
-- Transactions of two and more items, extended with the taxonomy nodes above their items (every node of a cut that
-- can replace an item). A transaction of one item holds no two nodes of a cut. Leaves are distinct already.
SELECT transactions.tid, leaves.node
FROM transactions
JOIN leaves ON transactions.item = leaves.item
WHERE transactions.tid IN (SELECT tid FROM transactions GROUP BY tid HAVING count(*) > 1)
UNION ALL
SELECT DISTINCT transactions.tid, inner_nodes.node
FROM transactions
JOIN inner_nodes ON transactions.item = inner_nodes.item
WHERE transactions.tid IN (SELECT tid FROM transactions GROUP BY tid HAVING count(*) > 1)
