-- reads: rows(label, tid, copies), overlapping(below, above)
-- params: none
-- returns: label, tid, copies
-- grain: label, tid
-- For each released item of a transaction of bags: how many copies the transaction has of released items that share a member with
-- it and choose before it.
SELECT rows.label, rows.tid, CAST(sum(others.copies) AS BIGINT) AS copies
FROM rows
JOIN overlapping ON rows.label = overlapping.above
JOIN rows AS others ON overlapping.below = others.label AND rows.tid = others.tid
GROUP BY rows.label, rows.tid
