-- reads: transactions(tid, item), items(item, label), columns(item, column_id), buckets(tid, bucket), numbered(tid, transaction_id)
-- params: none
-- returns: bucket_id, column_id, items, copies
-- grain: bucket_id, column_id, items
-- The multiset of values of every bucket and column, the empty value included, under the new numbers of the buckets
-- (numbered.tid is a bucket's old number), sorted by content: no row says what else a transaction holds.
WITH held AS (
    SELECT
        transactions.tid,
        columns.column_id,
        main.list_sort(list(items.label), 'ASC', 'NULLS LAST') AS items
    FROM transactions
    JOIN columns ON transactions.item = columns.item
    JOIN items ON transactions.item = items.item
    GROUP BY transactions.tid, columns.column_id
),
filled AS (
    SELECT buckets.bucket, held.column_id, held.items, count(*) AS copies
    FROM held
    JOIN buckets ON held.tid = buckets.tid
    GROUP BY buckets.bucket, held.column_id, held.items
),
empties AS (
    SELECT
        sizes.bucket,
        all_columns.column_id,
        CAST([] AS TEXT[]) AS items,
        any_value(sizes.size) - coalesce(sum(filled.copies), 0) AS copies
    FROM (SELECT bucket, count(*) AS size FROM buckets GROUP BY bucket) AS sizes
    CROSS JOIN (SELECT DISTINCT column_id FROM columns) AS all_columns
    LEFT JOIN filled ON sizes.bucket = filled.bucket AND all_columns.column_id = filled.column_id
    GROUP BY sizes.bucket, all_columns.column_id
)
SELECT
    numbered.transaction_id AS bucket_id,
    multisets.column_id,
    multisets.items,
    CAST(multisets.copies AS INTEGER) AS copies
FROM (
    SELECT bucket, column_id, items, copies FROM filled
    UNION ALL
    SELECT bucket, column_id, items, copies FROM empties WHERE copies > 0
) AS multisets
JOIN numbered ON multisets.bucket = numbered.tid
ORDER BY bucket_id ASC, multisets.column_id ASC, multisets.items ASC
