-- reads: shown(low, high)
-- params: none
-- returns: low, high, persons
-- grain: low, high
-- The released ranges of an attribute, those of the most persons first.
SELECT CAST(low AS DOUBLE) AS low, CAST(high AS DOUBLE) AS high, count(*) AS persons
FROM shown
WHERE low IS NOT NULL
GROUP BY low, high
ORDER BY count(*) DESC, low, high
