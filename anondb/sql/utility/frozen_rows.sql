-- reads: transactions(transaction_id, item)
-- params: none
-- returns: transaction_id, item
-- grain: transaction_id, item
-- The released items of a release's transactions.
SELECT transaction_id, item FROM transactions ORDER BY item ASC, transaction_id ASC
