-- reads: fresh(tid, node, last), others(tid, node, last)
-- params: k, first_from, first_to
-- returns: n1, n2, support
-- grain: n1, n2
-- Threats of size two: pairs of a fresh and another frequent node, neither above the other, that fewer than k
-- transactions hold.
SELECT a.node AS n1, b.node AS n2, CAST(count(*) AS INTEGER) AS support
FROM fresh AS a
JOIN others AS b ON a.tid = b.tid AND (b.node > a.last OR b.last < a.node)
WHERE a.node BETWEEN getvariable('first_from') AND getvariable('first_to')
GROUP BY a.node, b.node
HAVING count(*) < getvariable('k')
