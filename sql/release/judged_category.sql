-- reads: records(transaction_id, shown), released_values(attribute, released_value, value)
-- params: asked, attribute
-- returns: transaction_id, must, may, chance
-- grain: transaction_id
-- For one categorical attribute: whether each record's value must and may be one of the asked values (NULL for no condition),
-- and how likely that is. NULL is none of them.
SELECT
    records.transaction_id,
    listed.stated IS NULL OR coalesce(stands_for.n_asked = stands_for.n_values, false) AS must,
    listed.stated IS NULL OR coalesce(stands_for.n_asked > 0, false) AS may,
    CASE
        WHEN listed.stated IS NULL THEN CAST(1 AS DOUBLE)
        ELSE coalesce(CAST(stands_for.n_asked AS DOUBLE) / stands_for.n_values, 0)
    END AS chance
FROM records
CROSS JOIN (SELECT CAST(getvariable('asked') AS TEXT[]) AS stated) AS listed
LEFT JOIN (
    SELECT
        released_values.released_value AS stood_for,
        count(*) AS n_values,
        count(*) FILTER (
            WHERE list_contains(CAST(getvariable('asked') AS TEXT[]), released_values.value)
        ) AS n_asked
    FROM released_values
    WHERE released_values.attribute = getvariable('attribute')
    GROUP BY released_values.released_value
) AS stands_for ON records.shown = stands_for.stood_for
