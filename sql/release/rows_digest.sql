-- reads: transaction_ids(transaction_id), transactions(transaction_id, item, copies), records(transaction_id, attribute_values)
-- params: none
-- returns: digest
-- grain: one row
-- A digest of the rows of a release as its readers see them, whatever their numbers: equal rows have equal digests in one
-- version of DuckDB.
WITH held AS (
    SELECT transaction_id, sum(CAST(hash(item, copies) AS HUGEINT)) AS items FROM transactions GROUP BY transaction_id
)
SELECT
    concat_ws(
        ':', version(), count(*), coalesce(sum(CAST(hash(held.items, records.attribute_values) AS HUGEINT)), 0)
    ) AS digest
FROM transaction_ids
JOIN records ON transaction_ids.transaction_id = records.transaction_id
LEFT JOIN held ON transaction_ids.transaction_id = held.transaction_id
