-- reads: source(value)
-- params: texts
-- returns: inexact
-- grain: one row
-- The number of values that have more than six decimals of a second or, in a column of texts, are not written as dates or
-- times of dates, or are days that no month has.
SELECT count(*) AS inexact
FROM source
WHERE
    regexp_matches(value, '\.[0-9]{7,}')
    OR (
        getvariable('texts')
        AND NOT regexp_full_match(value, '[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?')
    )
    OR (getvariable('texts') AND value IS NOT NULL AND try_cast(value AS TIMESTAMP) IS NULL)
