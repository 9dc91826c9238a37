-- reads: transaction_items(transaction_id, item_id), labels(item_id, item)
-- params: none
-- returns: n
-- grain: one row
-- The number of stored rows that do not come after the row before them, and of repeated labels. If it is 0, no pair of a
-- transaction and a label is repeated: in whatever order the window reads the rows, they ascend.
SELECT descents.n + repeated.n AS n
FROM (
    SELECT
        greatest(count(*) - 1, 0) - count(*) FILTER (
            WHERE item_id > previous_item
            OR (item_id = previous_item AND transaction_id > previous_transaction)
        ) AS n
    FROM (
        SELECT
            transaction_id, item_id,
            lag(transaction_id) OVER () AS previous_transaction,
            lag(item_id) OVER () AS previous_item
        FROM transaction_items
    ) AS neighbours
) AS descents
CROSS JOIN (SELECT count(*) - count(DISTINCT item) AS n FROM labels) AS repeated
