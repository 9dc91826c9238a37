-- reads: numbered(tid, transaction_id), incomplete(tid)
-- params: none
-- returns: transaction_id, complete
-- grain: transaction_id
-- Every transaction of the original, and whether nothing can have been suppressed in its class.
SELECT
    numbered.transaction_id,
    NOT EXISTS (SELECT 1 FROM incomplete WHERE incomplete.tid = numbered.tid) AS complete
FROM numbered
ORDER BY numbered.transaction_id ASC
