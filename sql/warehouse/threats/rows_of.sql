-- reads: extended(tid, node), nodes(node, last, family)
-- params: none
-- returns: tid, node, last, family
-- grain: tid, node
-- The extended transactions, restricted to some nodes; last = last node of the subtree, family = the parent or -1.
SELECT extended.tid, extended.node, nodes.last, nodes.family
FROM extended
JOIN nodes ON extended.node = nodes.node
