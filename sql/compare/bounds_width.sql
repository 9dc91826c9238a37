-- reads: accuracy(workload, truth, lower_bound, upper_bound)
-- params: prefix
-- returns: width
-- grain: one row
-- The mean width of the guaranteed bounds, in transactions, over the queries of the workloads whose names have this prefix.
SELECT avg(upper_bound - lower_bound) AS width FROM accuracy WHERE starts_with(workload, getvariable('prefix'))
