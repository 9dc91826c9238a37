-- reads: transactions(tid, copies), recoded(tid, copies), incomplete(tid)
-- params: none
-- returns: lost, wrong
-- grain: one row
-- For bags: the number of unpublished occurrences, and of wrong transactions: those published with more occurrences than they
-- had, or with fewer although they are marked complete.
WITH before AS (SELECT tid, sum(copies) AS n FROM transactions GROUP BY tid),
after AS (SELECT tid, sum(copies) AS n FROM recoded GROUP BY tid)
SELECT
    CAST(coalesce(sum(before.n), 0) - coalesce(sum(after.n), 0) AS BIGINT) AS lost,
    count(*) FILTER (
        WHERE coalesce(after.n, 0) > coalesce(before.n, 0)
        OR (
            coalesce(after.n, 0) < before.n
            AND NOT EXISTS (SELECT 1 FROM incomplete WHERE incomplete.tid = before.tid)
        )
    ) AS wrong
FROM before
FULL JOIN after ON before.tid = after.tid
