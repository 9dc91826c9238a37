-- reads: extended(tid, node), transactions(tid, item)
-- params: none
-- returns: alone, number, support
-- grain: alone, number
-- The support of every taxonomy node among the extended transactions (alone = 0), and of each item among the transactions that
-- hold nothing else (alone = 1), which are not extended.
SELECT 0 AS alone, node AS number, count(*) AS support FROM extended GROUP BY node
UNION ALL
SELECT 1 AS alone, item AS number, count(*) AS support
FROM (SELECT min(item) AS item FROM transactions GROUP BY tid HAVING count(*) = 1) AS singles
GROUP BY item
