-- reads: places(tid, place, code), ids(tid, complete)
-- params: k
-- returns: code, complete, support
-- grain: code, complete
-- The classes of equal transactions with fewer than k members, when each has one place left. Transactions without items have no
-- code. Transactions that differ in complete, which readers see, are in different classes.
SELECT places.code, ids.complete, count(*) AS support
FROM ids
LEFT JOIN places ON ids.tid = places.tid
GROUP BY places.code, ids.complete
HAVING count(*) < getvariable('k')
