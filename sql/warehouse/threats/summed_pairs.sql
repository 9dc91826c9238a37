-- reads: counts(n1, n2, support)
-- params: k
-- returns: n1, n2, support
-- grain: n1, n2
-- What workers counted, each among its transactions, in all: the pairs of different nodes that fewer than k transactions hold, and
-- every node with itself.
SELECT n1, n2, CAST(sum(support) AS INTEGER) AS support
FROM counts
GROUP BY n1, n2
HAVING sum(support) < getvariable('k') OR n1 = n2
