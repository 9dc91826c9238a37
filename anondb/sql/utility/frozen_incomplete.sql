-- reads: transaction_ids(transaction_id, complete)
-- params: none
-- returns: transaction_id, complete
-- grain: transaction_id
-- Which records of a release are complete.
SELECT transaction_id, complete FROM transaction_ids ORDER BY transaction_id ASC
