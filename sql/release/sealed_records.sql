-- reads: transaction_ids(transaction_id), records(transaction_id), shown(attribute, released_value), released_values(attribute, released_value, value)
-- params: none
-- returns: transactions_without_a_record, records_without_a_transaction, repeated_records, values_that_stand_for_nothing, values_that_no_record_has, repeated_values
-- grain: one row
-- The numbers of inconsistent relational rows of a release, by kind: all are 0 in a release that anondb wrote. ``shown`` are
-- the categories that occur.
SELECT
    (
        SELECT count(*) FROM transaction_ids
        WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.transaction_id = transaction_ids.transaction_id)
    ) AS transactions_without_a_record,
    (
        SELECT count(*) FROM records
        WHERE NOT EXISTS (SELECT 1 FROM transaction_ids WHERE transaction_ids.transaction_id = records.transaction_id)
    ) AS records_without_a_transaction,
    (SELECT count(*) - count(DISTINCT transaction_id) FROM records) AS repeated_records,
    (
        SELECT count(*) FROM shown
        WHERE NOT EXISTS (
            SELECT 1 FROM released_values
            WHERE released_values.attribute = shown.attribute AND released_values.released_value = shown.released_value
        )
    ) AS values_that_stand_for_nothing,
    (
        SELECT count(*) FROM released_values
        WHERE NOT EXISTS (
            SELECT 1 FROM shown
            WHERE shown.attribute = released_values.attribute AND shown.released_value = released_values.released_value
        )
    ) AS values_that_no_record_has,
    (
        SELECT count(*) FROM (
            SELECT attribute FROM released_values GROUP BY attribute, released_value, value HAVING count(*) > 1
        ) AS repeated
    ) AS repeated_values
