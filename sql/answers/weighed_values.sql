-- reads: listed(attribute, released_value, value), shown(attribute, released_value, records)
-- params: none
-- returns: attribute, released_value, value, low, high, total
-- grain: attribute, released_value, value
-- The values that each category stands for, with their places among ``total``: each has one, and one more for each record that
-- shows it as itself. A world has the value in whose places a random number falls.
WITH sizes AS (
    SELECT listed.attribute, listed.released_value, count(*) AS size, min(listed.value) AS value
    FROM listed
    GROUP BY listed.attribute, listed.released_value
),
alone AS (
    SELECT sizes.attribute, sizes.value, sum(shown.records) AS records
    FROM sizes
    JOIN shown ON sizes.attribute = shown.attribute AND sizes.released_value = shown.released_value
    WHERE sizes.size = 1
    GROUP BY sizes.attribute, sizes.value
),
weighed AS (
    SELECT listed.attribute, listed.released_value, listed.value, 1 + CAST(coalesce(alone.records, 0) AS HUGEINT) AS weight
    FROM listed
    LEFT JOIN alone ON listed.attribute = alone.attribute AND listed.value IS NOT DISTINCT FROM alone.value
)
SELECT
    weighed.attribute,
    weighed.released_value,
    weighed.value,
    sum(weighed.weight) OVER upto - weighed.weight AS low,
    sum(weighed.weight) OVER upto AS high,
    sum(weighed.weight) OVER (PARTITION BY weighed.attribute, weighed.released_value) AS total
FROM weighed
WINDOW upto AS (
    PARTITION BY weighed.attribute, weighed.released_value
    ORDER BY weighed.value ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
)
