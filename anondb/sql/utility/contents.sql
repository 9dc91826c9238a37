-- reads: transactions(transaction_id, item, copies), transaction_ids(transaction_id, complete), codes(released, label)
-- params: none
-- returns: content_id, content, complete, weight
-- grain: content_id
-- The different published transactions of a release, and how many there are of each. A released item and its copies are
-- one number; copies that are missing are 0.
WITH coded AS (
    SELECT
        transactions.transaction_id,
        list_sort(list(CAST(codes.released AS BIGINT) * 4294967296 + coalesce(transactions.copies, 0))) AS content
    FROM transactions
    JOIN codes ON transactions.item = codes.label
    GROUP BY transactions.transaction_id
),
counted AS (
    SELECT coded.content, transaction_ids.complete, count(*) AS weight
    FROM transaction_ids
    LEFT JOIN coded ON transaction_ids.transaction_id = coded.transaction_id
    GROUP BY coded.content, transaction_ids.complete
)
SELECT
    CAST(row_number() OVER (ORDER BY content, complete) AS INTEGER) AS content_id, content, complete, weight
FROM counted
