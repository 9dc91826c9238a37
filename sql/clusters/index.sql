-- reads: extended(place, node, n)
-- params: k, clusters
-- returns: node, cluster, n
-- grain: node, cluster
-- The inverted index from a generalized item to the clusters that have it. A cluster begins with one transaction: of the
-- transactions in order, every k-th.
SELECT node, place // getvariable('k') AS cluster, n
FROM extended
WHERE place % getvariable('k') = 0 AND place < getvariable('k') * getvariable('clusters')
ORDER BY 1 ASC, 2 ASC
