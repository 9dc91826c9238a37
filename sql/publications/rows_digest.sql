-- reads: transaction_ids(transaction_id), transaction_items(transaction_id, item_id, copies), labels(item_id, item), records(transaction_id, attribute_values)
-- params: none
-- returns: digest
-- grain: one row
-- A digest of the rows of a release as its readers see them, whatever their numbers: the sum of the digests of all rows, each of
-- the sum of the digests of its released items and of its relational values. A digest is the upper half of an MD5.
WITH held AS (
    SELECT
        transaction_items.transaction_id,
        sum(CAST(md5_number(CAST(transaction_items.copies AS TEXT) || ':' || labels.item) >> 64 AS HUGEINT)) AS items
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    GROUP BY transaction_items.transaction_id
)
SELECT
    CAST(count(*) AS TEXT) || ':' || CAST(coalesce(sum(CAST(
        md5_number(coalesce(CAST(held.items AS TEXT), '') || ':' || CAST(records.attribute_values AS TEXT)) >> 64 AS HUGEINT
    )), 0) AS TEXT) AS digest
FROM transaction_ids
JOIN records ON transaction_ids.transaction_id = records.transaction_id
LEFT JOIN held ON transaction_ids.transaction_id = held.transaction_id
