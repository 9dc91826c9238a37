-- reads: occurrences(tid, prefix)
-- params: none
-- returns: prefix, mass
-- grain: prefix
-- The number of pairs of extensions of each prefix, to plan the use of memory.
SELECT prefix, CAST(sum(extensions * (extensions - 1)) / 2 AS BIGINT) AS mass
FROM (SELECT prefix, count(*) AS extensions FROM occurrences GROUP BY tid, prefix HAVING count(*) > 1) AS counted
GROUP BY prefix
ORDER BY prefix
