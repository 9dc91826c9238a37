-- reads: fresh(tid, node, last, family)
-- params: k, first_from, first_to
-- returns: n1, n2, support
-- grain: n1, n2
-- Threats of size two: pairs of frequent nodes of one family, neither above the other (in preorder, the second lies after
-- the subtree of the first), that fewer than k transactions hold. Nodes without families are of one.
SELECT a.node AS n1, b.node AS n2, CAST(count(*) AS INTEGER) AS support
FROM fresh AS a
JOIN fresh AS b ON a.tid = b.tid AND a.family = b.family AND b.node > a.last
WHERE a.node BETWEEN getvariable('first_from') AND getvariable('first_to')
GROUP BY a.node, b.node
HAVING count(*) < getvariable('k')
