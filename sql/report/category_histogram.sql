-- reads: original(value), shown(label), released_values(attribute, released_value, value)
-- params: attribute
-- returns: value, before, after, spanned
-- grain: value
-- How many persons have each value of an attribute, in the source and, if those of a released set are spread evenly over its
-- values, in the release; and how many show a set of several values that contains it.
WITH
    labels AS (
        SELECT label, count(*) AS n FROM shown GROUP BY label
    ),
    members AS (
        SELECT
            released_values.value,
            labels.n,
            count(*) OVER (PARTITION BY labels.label) AS size
        FROM labels
        JOIN released_values ON labels.label = released_values.released_value AND released_values.attribute = getvariable('attribute')
    ),
    after AS (
        SELECT value, sum(n / size) AS n, sum(CASE WHEN size > 1 THEN n ELSE 0 END) AS spanned FROM members GROUP BY value
    ),
    before AS (
        SELECT value, count(*) AS n FROM original GROUP BY value
    )
SELECT
    coalesce(before.value, after.value, '(none)') AS value,
    CAST(coalesce(before.n, 0) AS DOUBLE) AS before,
    CAST(coalesce(after.n, 0) AS DOUBLE) AS after,
    CAST(coalesce(after.spanned, 0) AS DOUBLE) AS spanned
FROM before
FULL JOIN after ON before.value IS NOT DISTINCT FROM after.value
ORDER BY 2 DESC, 1
