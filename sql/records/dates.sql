-- reads: source(tid, value)
-- params: none
-- returns: value, finite
-- grain: tid
-- Dates and times in the order of the transactions, as microseconds since 1970 (a date is its midnight).
SELECT
    CASE WHEN isfinite(value) THEN epoch_us(value) END AS value,
    coalesce(isfinite(value), true) AS finite
FROM (SELECT tid, CAST(value AS TIMESTAMP) AS value FROM source) AS moments
ORDER BY tid ASC
