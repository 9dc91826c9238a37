-- reads: frequent(support)
-- params: none
-- returns: total
-- grain: one row
-- The number of occurrences of all frequent antichains: the rows that the next level has to keep.
SELECT CAST(coalesce(sum(support), 0) AS BIGINT) AS total FROM frequent
