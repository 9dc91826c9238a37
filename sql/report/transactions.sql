-- reads: transaction_ids(transaction_id, complete)
-- params: none
-- returns: transactions, incomplete
-- grain: one row
-- The transactions of a release, and those that may have had suppressed occurrences.
SELECT count(*) AS transactions, count(*) FILTER (WHERE NOT complete) AS incomplete FROM transaction_ids
