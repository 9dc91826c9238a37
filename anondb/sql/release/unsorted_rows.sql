-- reads: transactions(transaction_id, rowid)
-- params: none
-- returns: n
-- grain: one row
-- Stored rows whose number is smaller than that of the row before them.
SELECT count(*) AS n
FROM (
    SELECT transaction_id, lag(transaction_id) OVER (ORDER BY transactions.rowid ASC) AS earlier FROM transactions
) AS stored
WHERE transaction_id < earlier
