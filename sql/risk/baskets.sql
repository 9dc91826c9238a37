-- reads: transaction_ids(transaction_id), transactions(transaction_id, item)
-- params: none
-- returns: transaction_id, item
-- grain: transaction_id, item
-- The published transactions in long form; an empty transaction has one row with a NULL item.
SELECT transaction_ids.transaction_id, transactions.item
FROM transaction_ids LEFT JOIN transactions ON transaction_ids.transaction_id = transactions.transaction_id
ORDER BY transaction_ids.transaction_id ASC, transactions.item ASC
