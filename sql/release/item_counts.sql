-- reads: expected(item, at_least, at_most, expected), unhidden(passed)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- The view item_counts of a global recoding: what count_bounds says of each original item alone, see its proof.
SELECT
    expected.item,
    CAST(expected.at_least AS BIGINT) AS lower_bound,
    CAST(expected.expected AS DOUBLE) AS estimate,
    CAST(expected.at_most AS BIGINT) AS upper_bound
FROM expected
CROSS JOIN unhidden
WHERE unhidden.passed
ORDER BY expected.item ASC
