-- reads: counted(item, lower_bound, estimate, upper_bound)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The bounds of each item over releases of disjoint persons, which add up.
SELECT
    counted.item,
    CAST(sum(counted.lower_bound) AS BIGINT) AS lower_bound,
    sum(counted.estimate) AS estimate,
    CAST(sum(counted.upper_bound) AS BIGINT) AS upper_bound
FROM counted
GROUP BY counted.item
ORDER BY counted.item ASC
