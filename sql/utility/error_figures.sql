-- reads: answers(truth, lower_bound, upper_bound, relative_error)
-- params: k
-- returns: measured, frequent, outside, mean, median, mean_frequent, median_frequent, always_zero, median_truth, width
-- grain: one row
-- The figures of a workload's answers, over the queries that have a relative error. The error of the answer 0 and the width of
-- the bounds are divided by the true count, too. Without k no query is frequent. Means are by Kahan's summation.
WITH measured AS (
    SELECT
        truth,
        relative_error,
        CAST(truth AS DOUBLE) / truth AS error_of_zero,
        CAST(upper_bound - lower_bound AS DOUBLE) / truth AS width,
        CASE WHEN truth >= getvariable('k') THEN relative_error END AS frequent_error
    FROM answers
    WHERE relative_error IS NOT NULL
),
outside AS (SELECT count(*) AS n FROM answers WHERE NOT truth BETWEEN lower_bound AND upper_bound)
SELECT
    count(*) AS measured,
    count(frequent_error) AS frequent,
    (SELECT n FROM outside) AS outside,
    favg(relative_error) AS mean,
    median(relative_error) AS median,
    favg(frequent_error) AS mean_frequent,
    median(frequent_error) AS median_frequent,
    favg(error_of_zero) AS always_zero,
    median(truth) AS median_truth,
    median(width) AS width
FROM measured
