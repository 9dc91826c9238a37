-- reads: transaction_ids(transaction_id), transaction_items(transaction_id, item_id, copies), labels(item_id, item), records(transaction_id, attribute_values)
-- params: none
-- returns: persons, items, copies, attribute_values
-- grain: items, copies, attribute_values
-- The distinct rows of a release as its readers see them: the released items of a transaction in order, the copies of each,
-- and its relational values; and the number of transactions with this row. An item and its copies are grouped as one number,
-- and get their names afterwards, which takes half of the time: labels are numbered from 1 in their order.
WITH held AS (
    SELECT transaction_id, list_sort(list(CAST(item_id AS BIGINT) * 4294967296 + copies)) AS content
    FROM transaction_items
    GROUP BY transaction_id
),
alike AS (
    SELECT count(*) AS persons, held.content, records.attribute_values
    FROM transaction_ids
    JOIN records ON transaction_ids.transaction_id = records.transaction_id
    LEFT JOIN held ON transaction_ids.transaction_id = held.transaction_id
    GROUP BY held.content, records.attribute_values
),
named AS (
    SELECT list(CAST(item AS TEXT) ORDER BY item_id ASC) AS names FROM labels
)
SELECT
    alike.persons,
    coalesce(list_transform(alike.content, lambda held_item : named.names[held_item // 4294967296]), CAST([] AS TEXT[])) AS items,
    coalesce(list_transform(alike.content, lambda held_item : CAST(held_item % 4294967296 AS INTEGER)), CAST([] AS INTEGER[])) AS copies,
    alike.attribute_values
FROM alike
CROSS JOIN named
ORDER BY items ASC, copies ASC, alike.attribute_values ASC
