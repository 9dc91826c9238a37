-- reads: released_items(released_item, item), supports(released_item, support), holders(released_item, item, n)
-- params: k, m
-- returns: released_item, item, at_least, at_most, support
-- grain: released_item, item
-- The supports of the original items beside a release, in buckets (docs/item_supports.md#the-rule): for each member of a released item
-- that stands for two or more, bounds of the number of transactions that show the released item and hold the member. A
-- released item that fewer than k transactions show has no rows. m NULL stands for any number of items.
--
-- s transactions show the released item. The upper borders of the buckets are k, 2k, ..., rk and s, with
-- r = floor((s - k - 1) / k). The largest bucket is raised until the buckets leave room for (min(m, size) - 1) k occurrences
-- more than transactions, so that any m members may occur together in at least k of them.
WITH released AS (
    SELECT
        released_items.released_item,
        any_value(supports.support) AS support,
        greatest(any_value(supports.support) - getvariable('k') - 1, 0) // getvariable('k') AS borders,
        any_value(supports.support) + (least(coalesce(getvariable('m'), count(*)), count(*)) - 1) * getvariable('k') AS need
    FROM released_items
    JOIN supports ON released_items.released_item = supports.released_item
    WHERE supports.support >= getvariable('k')
    GROUP BY released_items.released_item
    HAVING count(*) > 1
),
bucketed AS (
    SELECT
        released_items.released_item, released_items.item, released.support, released.borders, released.need,
        least(greatest(coalesce(holders.n, 0) - 1, 0) // getvariable('k'), released.borders) AS bucket
    FROM released_items
    JOIN released ON released_items.released_item = released.released_item
    LEFT JOIN holders ON released_items.released_item = holders.released_item AND released_items.item = holders.item
),
bounded AS (
    SELECT
        released_item, item, support, borders, need,
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
        (greatest(any_value(need) - sum(high) + max(high), 1) + getvariable('k') - 1) // getvariable('k') AS steps
    FROM bounded
    GROUP BY released_item
),
settled AS (
    SELECT
        bounded.released_item, bounded.item, bounded.support, bounded.low, bounded.high, totals.total, totals.largest,
        bounded.item = totals.first_item AS is_largest,
        CASE WHEN totals.steps <= bounded.borders THEN totals.steps * getvariable('k') ELSE bounded.support END AS border
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
