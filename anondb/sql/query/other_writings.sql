-- reads: released_items(item), asked(label)
-- params: none
-- returns: ambiguous
-- grain: one row
-- How many of the asked labels, none of which a released item stands for, may be another writing of one that has: if all
-- known labels are whole numbers (or booleans, dates, ...) the original column may be of that type, and '05' means 5 there.
WITH casts AS (
    SELECT
        count(*) AS n,
        count(*) FILTER (WHERE CAST(TRY_CAST(item AS HUGEINT) AS TEXT) = item) AS wholes,
        count(*) FILTER (WHERE CAST(TRY_CAST(item AS BOOLEAN) AS TEXT) = item) AS booleans,
        count(*) FILTER (WHERE CAST(TRY_CAST(item AS DATE) AS TEXT) = item) AS dates,
        count(*) FILTER (WHERE CAST(TRY_CAST(item AS TIMESTAMP) AS TEXT) = item) AS moments,
        count(*) FILTER (WHERE CAST(TRY_CAST(item AS UUID) AS TEXT) = item) AS uuids
    FROM released_items
)
SELECT count(*) AS ambiguous
FROM asked
CROSS JOIN casts
WHERE EXISTS (
    SELECT 1 FROM released_items AS known
    WHERE known.item = CASE casts.n
        WHEN casts.wholes THEN CAST(TRY_CAST(asked.label AS HUGEINT) AS TEXT)
        WHEN casts.booleans THEN CAST(TRY_CAST(asked.label AS BOOLEAN) AS TEXT)
        WHEN casts.dates THEN CAST(TRY_CAST(asked.label AS DATE) AS TEXT)
        WHEN casts.moments THEN CAST(TRY_CAST(asked.label AS TIMESTAMP) AS TEXT)
        WHEN casts.uuids THEN CAST(TRY_CAST(asked.label AS UUID) AS TEXT)
    END
)
