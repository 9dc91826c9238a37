-- reads: members(released_item, item, support, n)
-- params: k, m
-- returns: released_item, item, at_least, at_most, support
-- grain: released_item, item
-- The supports of the original items beside a release, in buckets (docs/item_supports.md#the-rule): for each member of a released item
-- that stands for two or more, bounds of the number of transactions that show the released item and hold the member. A
-- released item that fewer than k transactions show has no rows. m NULL stands for any number of items.
--
-- s transactions show the released item, n of them hold the member. The upper borders of the buckets are k, 2k, ..., rk and s,
-- with r = floor((s - k - 1) / k); last_border is rk, and from_border the border below a bucket. The largest bucket is raised
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
bounded AS (
    SELECT
        released_item, item, support,
        room - room % getvariable('k') AS last_border,
        CASE WHEN place < getvariable('k') THEN 0 ELSE place - place % getvariable('k') + 1 END AS low,
        CASE WHEN place - place % getvariable('k') < room - room % getvariable('k') THEN place - place % getvariable('k') + getvariable('k') ELSE support END AS high
    FROM distances
),
summed AS (
    SELECT
        released_item, item, support, last_border, low, high,
        row_number() OVER (PARTITION BY released_item ORDER BY high DESC, item ASC) = 1 AS is_largest,
        count(*) OVER (PARTITION BY released_item) AS size,
        sum(high) OVER (PARTITION BY released_item) AS total,
        max(high) OVER (PARTITION BY released_item) AS largest
    FROM bounded
),
needed AS (
    SELECT
        released_item, item, support, last_border, low, high, is_largest, total, largest,
        greatest(support + (least(coalesce(getvariable('m'), size), size) - 1) * getvariable('k') - total + largest, 1) AS need
    FROM summed
    WHERE size > 1
),
settled AS (
    SELECT
        released_item, item, support, low, high, is_largest, total,largest,
            CASE WHEN need <= last_border THEN need + getvariable('k') - 1 - (need + getvariable('k') - 1) % getvariable('k') ELSE support END AS border
    FROM needed
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
