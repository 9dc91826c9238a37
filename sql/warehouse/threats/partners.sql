-- reads: fresh(tid, node), others(tid, node)
-- params: none
-- returns: node, mass
-- grain: node
-- The number of rows of a join with each fresh node, to plan the use of memory.
SELECT fresh.node, CAST(sum(lengths.length) AS BIGINT) AS mass
FROM fresh
JOIN (SELECT tid, count(*) AS length FROM others GROUP BY tid) AS lengths ON fresh.tid = lengths.tid
GROUP BY fresh.node
ORDER BY fresh.node
