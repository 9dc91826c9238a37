-- reads: sets(length, copies)
-- params: k
-- returns: open_sets, pair_rows
-- grain: one row
-- The number of distinct transactions with fewer than k copies, and of rows of the pair self-join over the distinct ones.
SELECT
    count(*) FILTER (WHERE copies < getvariable('k')) AS open_sets,
    CAST(coalesce(sum(length * (length - 1) // 2), 0) AS BIGINT) AS pair_rows
FROM sets
