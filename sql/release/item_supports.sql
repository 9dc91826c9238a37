-- reads: members(released_item, item, support, n)
-- params: k, m
-- returns: released_item, item, at_least, at_most, support
-- grain: released_item, item
-- The supports of the original items beside a release, in buckets (docs/item_supports.md#the-rule): for each member of a released item
-- that stands for two or more, bounds of the number of transactions that show the released item and hold the member. A
-- released item that fewer than k transactions show has no rows. m NULL stands for any number of items.
--
-- s transactions show the released item, n of them hold the member. The upper borders of the buckets are k, 2k, ..., rk and s,
-- with r = floor((s - k - 1) / k). The largest bucket is raised until the buckets leave room for (min(m, size) - 1) k occurrences
-- more than transactions, so that any m members may occur together in at least k of them.
WITH bucketed AS (
    SELECT
        released_item, item, support,
        greatest(support - getvariable('k') - 1, 0) // getvariable('k') AS borders,
        greatest(least(n, support - getvariable('k')) - 1, 0) // getvariable('k') AS bucket
    FROM members
    WHERE support >= getvariable('k')
),
bounded AS (
    SELECT
        released_item, item, support, borders,
        CASE WHEN bucket = 0 THEN 0 ELSE bucket * getvariable('k') + 1 END AS low,
        CASE WHEN bucket < borders THEN (bucket + 1) * getvariable('k') ELSE support END AS high
    FROM bucketed
),
totals AS (
    SELECT
        released_item,
        sum(high) AS total,
        max(high) AS largest,
        arg_min(item, {'high': -high, 'item': item}) AS first_item,
        any_value(support) + (least(coalesce(getvariable('m'), count(*)), count(*)) - 1) * getvariable('k') - sum(high) + max(high) AS need
    FROM bounded
    GROUP BY released_item
    HAVING count(*) > 1
),
settled AS (
    SELECT
        bounded.released_item, bounded.item, bounded.support, bounded.low, bounded.high, totals.total, totals.largest,
        bounded.item = totals.first_item AS is_largest,
        CASE
            WHEN greatest(totals.need, 1) <= bounded.borders * getvariable('k')
                THEN (greatest(totals.need, 1) + getvariable('k') - 1) // getvariable('k') * getvariable('k')
            ELSE bounded.support
        END AS border
    FROM bounded JOIN totals ON bounded.released_item = totals.released_item
)
SELECT
    released_item,
    item,
    CAST(greatest(
        CASE WHEN is_largest AND high <= border THEN 0 ELSE low END,
        support - total + CASE WHEN is_largest THEN high ELSE high + largest - greatest(largest, border) END
    ) AS BIGINT) AS at_least,
    CAST(CASE WHEN is_largest THEN greatest(high, border) ELSE high END AS BIGINT) AS at_most,
    support
FROM settled
ORDER BY released_item ASC, item ASC
