-- reads: records(transaction_id), transaction_ids(transaction_id), transactions(transaction_id)
-- params: none
-- returns: violation, items, support
-- grain: row
-- Each transaction has one record, and each record has a transaction: otherwise the classes of records would not cover it.
WITH present AS (
    SELECT transaction_id FROM records
    UNION
    SELECT transaction_id FROM transaction_ids
    UNION
    SELECT transaction_id FROM transactions
),
counted AS (
    SELECT transaction_id, count(*) AS records FROM records GROUP BY transaction_id
),
listed AS (
    SELECT transaction_id, count(*) AS times FROM transaction_ids GROUP BY transaction_id
)
SELECT
    'a transaction is not listed once with one record' AS violation,
    CAST([] AS TEXT[]) AS items,
    coalesce(counted.records, 0) AS support
FROM present
LEFT JOIN counted ON present.transaction_id = counted.transaction_id
LEFT JOIN listed ON present.transaction_id = listed.transaction_id
WHERE coalesce(counted.records, 0) <> 1 OR coalesce(listed.times, 0) <> 1
