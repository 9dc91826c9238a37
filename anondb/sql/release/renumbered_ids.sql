-- reads: transaction_ids(transaction_id, complete), numbered(tid, transaction_id)
-- params: none
-- returns: transaction_id, complete
-- grain: transaction_id
-- All transactions under new numbers, sorted.
SELECT numbered.transaction_id, transaction_ids.complete
FROM transaction_ids
JOIN numbered ON transaction_ids.transaction_id = numbered.tid
ORDER BY 1 ASC
