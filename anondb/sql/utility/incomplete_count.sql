-- reads: incomplete(tid)
-- params: none
-- returns: transactions
-- grain: one row
-- How many transactions may have had suppressed occurrences.
SELECT count(*) AS transactions FROM incomplete
