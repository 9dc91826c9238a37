-- reads: transactions(transaction_id, item, copies), transaction_ids(transaction_id, complete)
-- params: none
-- returns: transaction_id, complete, weight, content
-- grain: transaction_id
-- The different transactions of a release, numbered anew, and how many there are of each. The content of one is its released
-- items and their copies, each a number.
WITH codes AS (
    SELECT listed.item, row_number() OVER (ORDER BY listed.item ASC) AS code
    FROM (SELECT DISTINCT transactions.item FROM transactions) AS listed
),
coded AS (
    SELECT transactions.transaction_id, list_sort(list(codes.code * 4294967296 + coalesce(transactions.copies, 0))) AS content
    FROM transactions
    JOIN codes ON transactions.item = codes.item
    GROUP BY transactions.transaction_id
),
counted AS (
    SELECT coded.content, transaction_ids.complete, count(*) AS weight
    FROM transaction_ids
    LEFT JOIN coded ON transaction_ids.transaction_id = coded.transaction_id
    GROUP BY coded.content, transaction_ids.complete
)
SELECT
    CAST(row_number() OVER (ORDER BY counted.content ASC, counted.complete ASC) AS INTEGER) AS transaction_id,
    counted.complete, counted.weight, counted.content
FROM counted
