-- reads: reachable(tid, node, last, family), frequent(n1, n2)
-- params: none
-- returns: tid, prefix, member, last, family
-- grain: tid, prefix, member
-- The occurrences of the frequent pairs; family is that of the pair's children of one replaced node, if it holds any.
SELECT a.tid, a.node AS prefix, b.node AS member, b.last, greatest(a.family, b.family) AS family
FROM reachable AS a
JOIN reachable AS b ON a.tid = b.tid AND b.node > a.last
JOIN frequent ON frequent.n1 = a.node AND frequent.n2 = b.node
