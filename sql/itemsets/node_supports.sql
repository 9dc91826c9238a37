-- reads: extended(tid, node)
-- params: none
-- returns: node, support
-- grain: node
-- The support of every taxonomy node among the extended transactions.
SELECT node, count(*) AS support FROM extended GROUP BY node ORDER BY node
