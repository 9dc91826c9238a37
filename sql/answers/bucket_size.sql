-- reads: buckets(items, copies)
-- params: none
-- returns: held
-- grain: one row
-- How many occurrences of items the buckets of an anatomy stand for.
SELECT CAST(sum(buckets.copies * len(buckets.items)) AS BIGINT) AS held FROM buckets
