-- reads: numbered(tid, transaction_id)
-- params: complete
-- returns: transaction_id, complete
-- grain: transaction_id
-- Every transaction of the original, also where all items were suppressed.
SELECT numbered.transaction_id, getvariable('complete') AS complete FROM numbered ORDER BY numbered.transaction_id ASC
