-- reads: records(transaction_id, low, high, low_number, high_number, has_null)
-- params: asked, numbers, counts
-- returns: transaction_id, must, may, chance
-- grain: transaction_id
-- For one numeric or date attribute: whether each record's value must and may lie in the asked range [low, high] (NULL for
-- no condition, NULL ends for open ones), and how likely that is. NULL lies in no range. The numbers are the same ends as
-- doubles (days for dates), for the estimate: where values are whole (counts), a range covers as many values as there are,
-- else its length counts.
SELECT
    judged.transaction_id,
    judged.must,
    judged.may,
    CAST(
        CASE
            WHEN judged.must THEN 1
            WHEN NOT judged.may THEN 0
            WHEN judged.counts THEN (judged.inner_high - judged.inner_low + 1) / (judged.high - judged.low + 1 + judged.nulls)
            WHEN judged.high = judged.low THEN 1 / (1 + judged.nulls)
            ELSE (judged.inner_high - judged.inner_low) / ((judged.high - judged.low) * (1 + judged.nulls))
        END AS DOUBLE
    ) AS chance
FROM (
    SELECT
        records.transaction_id,
        bounds.checked AND (
            bounds.open OR coalesce(
                NOT records.has_null
                AND records.low >= coalesce(bounds.lowest, records.low)
                AND records.high <= coalesce(bounds.highest, records.high), false
            )
        ) AS must,
        bounds.checked AND (
            bounds.open OR coalesce(
                records.high >= coalesce(bounds.lowest, records.high)
                AND records.low <= coalesce(bounds.highest, records.low)
                AND coalesce(bounds.lowest <= bounds.highest, true), false
            )
        ) AS may,
        records.low_number AS low,
        records.high_number AS high,
        CASE WHEN getvariable('counts') THEN ceil(greatest(records.low_number, coalesce(bounds.lowest_number, records.low_number)))
            ELSE greatest(records.low_number, coalesce(bounds.lowest_number, records.low_number)) END AS inner_low,
        CASE WHEN getvariable('counts') THEN floor(least(records.high_number, coalesce(bounds.highest_number, records.high_number)))
            ELSE least(records.high_number, coalesce(bounds.highest_number, records.high_number)) END AS inner_high,
        CASE WHEN records.has_null THEN 1 ELSE 0 END AS nulls,
        getvariable('counts') AS counts
    FROM records
    CROSS JOIN (
        SELECT
            ends.stated IS NULL AS open,
            ends.stated[1] AS lowest,
            ends.stated[2] AS highest,
            ends.numbers[1] AS lowest_number,
            ends.numbers[2] AS highest_number,
            CASE
                WHEN ends.stated IS NOT NULL AND len(ends.stated) <> 2
                    THEN error('count_bounds: the condition on a number or date is a range [low, high].')
                ELSE true
            END AS checked
        FROM (SELECT getvariable('asked') AS stated, getvariable('numbers') AS numbers) AS ends
    ) AS bounds
) AS judged
