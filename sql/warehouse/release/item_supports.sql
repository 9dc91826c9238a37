-- reads: members(released_item, item, support, n)
-- params: k, m
-- returns: released_item, item, at_least, at_most, support
-- grain: released_item, item
-- The supports of the original items beside a release, in buckets (docs/item_supports.md#the-rule): for each member of a released item
-- that stands for two or more, bounds of the number of transactions that show the released item and hold the member. A
-- released item that fewer than k transactions show has no rows. m NULL stands for any number of items.
--
-- s transactions show the released item, n of them hold the member. The upper borders of the buckets are k, 2k, ..., rk and s,
-- with r = floor((s - k - 1) / k): last_border is rk, and from_border the border below a bucket. The largest bucket is raised
-- until the buckets leave room for (min(m, size) - 1) k occurrences more than transactions, so that any m members may occur
-- together in at least k of them.
WITH distances AS (
    SELECT
        released_item, item, support,
        greatest(support - getvariable('k') - 1, 0) AS room,
        greatest(least(n, support - getvariable('k')) - 1, 0) AS place
    FROM members
    WHERE support >= getvariable('k')
),
bucketed AS (
    SELECT
        released_item, item, support,
        room - room % getvariable('k') AS last_border,
        place - place % getvariable('k') AS from_border
    FROM distances
),
bounded AS (
    SELECT
        released_item, item, support, last_border,
        CASE WHEN from_border = 0 THEN 0 ELSE from_border + 1 END AS low,
        CASE WHEN from_border < last_border THEN from_border + getvariable('k') ELSE support END AS high
    FROM bucketed
),
ranked AS (
    SELECT
        released_item, item, support, last_border, low, high,
        row_number() OVER (PARTITION BY released_item ORDER BY high DESC, item ASC) = 1 AS is_largest
    FROM bounded
),
totals AS (
    SELECT
        released_item,
        sum(high) AS total,
        max(high) AS largest,
        greatest(
            max(support) + (least(coalesce(getvariable('m'), count(*)), count(*)) - 1) * getvariable('k') - sum(high) + max(high), 1
        ) AS need
    FROM bounded
    GROUP BY released_item
    HAVING count(*) > 1
),
settled AS (
    SELECT
        ranked.released_item, ranked.item, ranked.support, ranked.low, ranked.high, ranked.is_largest, totals.total, totals.largest,
        CASE
            WHEN totals.need <= ranked.last_border
                THEN totals.need + getvariable('k') - 1 - (totals.need + getvariable('k') - 1) % getvariable('k')
            ELSE ranked.support
        END AS border
    FROM ranked JOIN totals ON ranked.released_item = totals.released_item
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
