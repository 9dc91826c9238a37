-- reads: vals(bucket_id, column_id, items, copies), item_columns(item, column_id), transactions(tid, item), items(item, label)
-- params: transactions
-- returns: lost
-- grain: one row
-- The number of columns whose values in all buckets together, empty ones included, are not those of the original
-- transactions; one more if items of the original are in no column.
WITH published AS (
    SELECT column_id, items, CAST(sum(copies) AS BIGINT) AS copies FROM vals GROUP BY column_id, items
),
held AS (
    SELECT transactions.tid, item_columns.column_id, array_sort(list(items.label)) AS items
    FROM transactions
    JOIN items ON transactions.item = items.item
    LEFT JOIN item_columns ON items.label = item_columns.item
    GROUP BY transactions.tid, item_columns.column_id
),
filled AS (
    SELECT column_id, items, count(*) AS copies FROM held GROUP BY column_id, items
),
empties AS (
    SELECT
        all_columns.column_id,
        CAST([] AS VARCHAR[]) AS items,
        getvariable('transactions') - coalesce(CAST(sum(filled.copies) AS BIGINT), 0) AS copies
    FROM (SELECT DISTINCT column_id FROM vals) AS all_columns
    LEFT JOIN filled ON all_columns.column_id = filled.column_id
    GROUP BY all_columns.column_id
),
original AS (
    SELECT column_id, items, copies FROM filled
    UNION ALL
    SELECT column_id, items, copies FROM empties WHERE copies > 0
)
SELECT count(*) AS lost FROM (
    SELECT DISTINCT coalesce(original.column_id, published.column_id) AS column_id
    FROM original
    FULL JOIN published ON original.column_id = published.column_id AND original.items = published.items
    WHERE coalesce(original.copies, 0) <> coalesce(published.copies, 0)
) AS differing
