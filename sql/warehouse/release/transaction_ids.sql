-- reads: ids(tid)
-- params: complete
-- returns: transaction_id, complete
-- grain: transaction_id
-- The table transaction_ids of a release: every transaction of the original, also where all items were suppressed.
SELECT tid AS transaction_id, getvariable('complete') AS complete FROM ids ORDER BY tid
