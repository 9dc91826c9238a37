-- reads: fresh(tid, node), others(tid, node)
-- params: none
-- returns: node, mass
-- grain: node
-- How many rows a join makes with each fresh node: the estimate that memory is planned by.
SELECT fresh.node, CAST(sum(lengths.length) AS BIGINT) AS mass
FROM fresh
JOIN (SELECT tid, count(*) AS length FROM others GROUP BY tid) AS lengths ON fresh.tid = lengths.tid
GROUP BY fresh.node
ORDER BY fresh.node
