-- reads: ids(tid), draws(tid, drawn)
-- params: none
-- returns: tid, transaction_id
-- grain: tid
-- The tids numbered from 1 in the order of what was drawn for them; equal draws, one pair in 10^19, in the order of the tids.
SELECT
    tid,
    CAST(row_number() OVER (ORDER BY drawn, tid) AS INTEGER) AS transaction_id
FROM draws
WHERE tid IN (SELECT tid FROM ids)
