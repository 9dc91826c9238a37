-- reads: transactions(tid, item, copies), ids(tid, complete)
-- params: k
-- returns: content, complete, support
-- grain: content, complete
-- The classes of transactions that are published alike and have fewer than k members. A transaction without rows belongs
-- to the class of the empty ones. An item and its copies are one number, so that a bag is a list of them; whether a
-- transaction is complete can be seen, so it tells classes apart.
WITH contents AS (
    SELECT tid, list_sort(list(CAST(item AS BIGINT) * 4294967296 + copies)) AS content
    FROM transactions
    GROUP BY tid
)
SELECT contents.content, ids.complete, count(*) AS support
FROM ids
LEFT JOIN contents ON ids.tid = contents.tid
GROUP BY contents.content, ids.complete
HAVING count(*) < getvariable('k')
