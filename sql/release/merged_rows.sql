-- reads: transactions(tid, item, copies)
-- params: none
-- returns: tid, item, copies
-- grain: tid, item
-- Each pair once: a repeated row does not count as another person, but its copies add up.
SELECT tid, item, CAST(sum(copies) AS BIGINT) AS copies FROM transactions GROUP BY tid, item
