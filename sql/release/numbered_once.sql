-- reads: numbered(tid, transaction_id)
-- params: none
-- returns: once
-- grain: one row
-- Whether every tid has one number, and no two the same.
SELECT count(*) = count(DISTINCT tid) AND count(*) = count(DISTINCT transaction_id) AS once FROM numbered
