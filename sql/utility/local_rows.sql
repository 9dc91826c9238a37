-- reads: transactions(tid, released)
-- params: none
-- returns: record, released
-- grain: record, released
-- The released items of each record, records numbered from 0.
SELECT tid - 1 AS record, released FROM transactions ORDER BY tid ASC, released ASC
