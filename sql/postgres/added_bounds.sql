-- reads: counted(lower_bound, estimate, upper_bound)
-- params: none
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The bounds of one question over releases of disjoint persons, which add up.
SELECT
    CAST(sum(counted.lower_bound) AS BIGINT) AS lower_bound,
    sum(counted.estimate) AS estimate,
    CAST(sum(counted.upper_bound) AS BIGINT) AS upper_bound
FROM counted
