-- reads: pairs(n1, n2, support)
-- params: none
-- returns: node, support
-- grain: node
-- The supports of nodes, counted as pairs of a node with itself.
SELECT n1 AS node, support FROM pairs WHERE n1 = n2
