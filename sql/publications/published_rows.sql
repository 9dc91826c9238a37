-- reads: transaction_ids(transaction_id), transactions(transaction_id, item, copies), records(transaction_id, attribute_values)
-- params: none
-- returns: persons, items, copies, attribute_values
-- grain: items, copies, attribute_values
-- The distinct rows of a release as its readers see them: the released items of a transaction in order, the copies of each,
-- and its relational values; and the number of transactions with this row.
WITH held AS (
    SELECT
        transaction_id,
        list(item ORDER BY item ASC) AS items,
        list(copies ORDER BY item ASC) AS copies
    FROM transactions
    GROUP BY transaction_id
)
SELECT
    count(*) AS persons,
    coalesce(held.items, CAST([] AS TEXT[])) AS items,
    coalesce(held.copies, CAST([] AS INTEGER[])) AS copies,
    records.attribute_values
FROM transaction_ids
JOIN records ON transaction_ids.transaction_id = records.transaction_id
LEFT JOIN held ON transaction_ids.transaction_id = held.transaction_id
GROUP BY held.items, held.copies, records.attribute_values
ORDER BY items ASC, copies ASC, attribute_values ASC
