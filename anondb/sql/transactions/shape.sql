-- reads: transactions(tid, item), ids(tid)
-- params: none
-- returns: transactions, occurrences, longest, non_empty
-- grain: one row
-- The size of the data: N, occurrences, the longest transaction, and how many transactions hold any item.
WITH lengths AS (SELECT tid, count(*) AS length FROM transactions GROUP BY tid)
SELECT
    (SELECT count(*) FROM ids) AS transactions,
    CAST(coalesce(sum(length), 0) AS BIGINT) AS occurrences,
    coalesce(max(length), 0) AS longest,
    count(*) AS non_empty
FROM lengths
