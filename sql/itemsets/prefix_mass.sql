-- reads: occurrences(tid, prefix)
-- params: none
-- returns: prefix, mass
-- grain: prefix
-- How many pairs of extensions each prefix makes: the estimate that memory is planned by.
SELECT prefix, CAST(sum(extensions * (extensions - 1) // 2) AS BIGINT) AS mass
FROM (SELECT prefix, count(*) AS extensions FROM occurrences GROUP BY tid, prefix) AS counted
GROUP BY prefix
HAVING sum(extensions * (extensions - 1) // 2) > 0
ORDER BY prefix
