-- reads: shown(low, high, missing)
-- params: none
-- returns: low, high, persons, mixed
-- grain: low, high
-- The released ranges of an attribute, those of the most persons first; and how many of these may also have no value.
SELECT
    CAST(low AS DOUBLE) AS low,
    CAST(high AS DOUBLE) AS high,
    count(*) AS persons,
    count(CASE WHEN missing THEN 1 END) AS mixed
FROM shown
WHERE low IS NOT NULL
GROUP BY low, high
ORDER BY count(*) DESC, low, high
