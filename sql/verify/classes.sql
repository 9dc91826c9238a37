-- reads: transactions(tid, item, copies), ids(tid, complete)
-- params: none
-- returns: content_id, content, complete, support
-- grain: content_id
-- The classes of transactions that are published alike, numbered from 1. A transaction without rows belongs to the class of
-- the empty ones. An item and its copies are one number, so that a bag is a list of them; copies that are missing are 0.
-- Whether a transaction is complete can be seen, so it tells classes apart.
WITH contents AS (
    SELECT tid, list_sort(list(CAST(item AS BIGINT) * 4294967296 + coalesce(copies, 0))) AS content
    FROM transactions
    GROUP BY tid
),
counted AS (
    SELECT contents.content, ids.complete, count(*) AS support
    FROM ids
    LEFT JOIN contents ON ids.tid = contents.tid
    GROUP BY contents.content, ids.complete
)
SELECT
    CAST(row_number() OVER (ORDER BY content, complete) AS INTEGER) AS content_id, content, complete, support
FROM counted
