-- reads: reachable(tid, node, last, family)
-- params: k
-- returns: n1, n2, prefix, support
-- grain: n1, n2
-- Frequent antichains of size two, not from two families of children, from which larger ones grow; prefix is the node that
-- extensions share.
SELECT a.node AS n1, b.node AS n2, a.node AS prefix, count(*) AS support
FROM reachable AS a
JOIN reachable AS b
    ON a.tid = b.tid AND b.node > a.last AND (a.family = b.family OR a.family < 0 OR b.family < 0)
GROUP BY a.node, b.node
HAVING count(*) >= getvariable('k')
