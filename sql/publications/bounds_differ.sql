-- reads: counts(item, lower_bound, upper_bound), other_counts(item, lower_bound, upper_bound)
-- params: none
-- returns: n
-- grain: one row
-- The number of items that only one of two releases lists, or of which they say other bounds.
SELECT count(*) AS n
FROM counts
FULL JOIN other_counts ON counts.item = other_counts.item
WHERE counts.lower_bound IS DISTINCT FROM other_counts.lower_bound OR counts.upper_bound IS DISTINCT FROM other_counts.upper_bound
