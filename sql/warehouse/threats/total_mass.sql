-- reads: fresh(tid), others(tid)
-- params: none
-- returns: mass
-- grain: one row
-- The number of rows of a join of fresh and other rows by transaction, to refuse one that would take too long.
SELECT CAST(coalesce(sum(lengths.length), 0) AS BIGINT) AS mass
FROM fresh
JOIN (SELECT tid, count(*) AS length FROM others GROUP BY tid) AS lengths ON fresh.tid = lengths.tid
