-- reads: transactions(tid, item, copies), ids(tid, complete)
-- params: none
-- returns: content_id, content, complete, support
-- grain: content_id
-- The classes of equal published transactions, numbered from 1. Transactions without rows are the empty ones. An item and
-- its copies are coded as one number, and a bag as a list of them; missing copies are 0. Transactions that differ in
-- complete, which readers see, are in different classes.
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
