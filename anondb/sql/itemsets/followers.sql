-- reads: fresh(tid, node)
-- params: none
-- returns: node, mass
-- grain: node
-- How many pairs a self-join makes with each node as the first: the estimate that memory is planned by.
SELECT node, CAST(sum(later) AS BIGINT) AS mass
FROM (SELECT node, row_number() OVER (PARTITION BY tid ORDER BY node DESC) - 1 AS later FROM fresh) AS followers
GROUP BY node
ORDER BY node
